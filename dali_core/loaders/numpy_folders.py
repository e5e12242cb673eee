"""Functions that make loaders of NumPy arrays for folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dali_core.loaders.numpy_loader import Loader
from dali_core.loaders.recipes import FolderLoaders
from dali_core.loaders.recipes.settings import Target

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dali_core.loaders.numpy_loader import Array

_folders: FolderLoaders[
    Loader,
    Loader[dict[str, Array]],
    Loader[tuple[Array, Array, list[str]]],
    Loader[tuple[Array, Unpack[tuple[Array, ...]], list[str]]],
] = FolderLoaders(Loader, Target("dali_core", "HWC"))
audio_folder = _folders.audio_folder
csv_folder = _folders.csv_folder
image_folder = _folders.image_folder
segmentation_folder = _folders.segmentation_folder
video_folder = _folders.video_folder
