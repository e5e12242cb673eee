"""PyTorch: a loader that gives its tensors, from the adapter package `dali_core_pytorch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dali_core.loaders.recipes import FolderLoaders
from dali_core.loaders.recipes.settings import Target

if TYPE_CHECKING:
    import torch
    from typing_extensions import Unpack

try:
    from dali_core_pytorch.loader import Loader as Loader
except ModuleNotFoundError as error:
    from dali_core._extras import install_command

    raise ImportError(
        f"dali_core.pytorch: PyTorch must be installed (got: {error}). "
        f"Run {install_command('pytorch')}."
    ) from error

_folders: FolderLoaders[
    Loader,
    Loader[dict[str, torch.Tensor]],
    Loader[tuple[torch.Tensor, torch.Tensor, list[str]]],
    Loader[tuple[torch.Tensor, Unpack[tuple[torch.Tensor, ...]], list[str]]],
] = FolderLoaders(Loader, Target("dali_core.pytorch", "CHW"))
audio_folder = _folders.audio_folder
csv_folder = _folders.csv_folder
image_folder = _folders.image_folder
segmentation_folder = _folders.segmentation_folder
video_folder = _folders.video_folder
