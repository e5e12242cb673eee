"""JAX: a loader that gives its arrays, from the adapter package `dali_core_jax`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dali_core.loaders.recipes import FolderLoaders
from dali_core.loaders.recipes.settings import Target

if TYPE_CHECKING:
    import jax
    from typing_extensions import Unpack

try:
    from dali_core_jax.loader import Loader as Loader
except ModuleNotFoundError as error:
    from dali_core._extras import install_command

    raise ImportError(
        f"dali_core.jax: JAX must be installed (got: {error}). Run {install_command('jax')}."
    ) from error

_folders: FolderLoaders[
    Loader,
    Loader[dict[str, jax.Array]],
    Loader[tuple[jax.Array, jax.Array, list[str]]],
    Loader[tuple[jax.Array, Unpack[tuple[jax.Array, ...]], list[str]]],
] = FolderLoaders(Loader, Target("dali_core.jax", "HWC"))
audio_folder = _folders.audio_folder
csv_folder = _folders.csv_folder
image_folder = _folders.image_folder
segmentation_folder = _folders.segmentation_folder
video_folder = _folders.video_folder
