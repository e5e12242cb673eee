"""The functions that make loaders for folders, for one framework."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from dali_core.errors import ArgumentValueError
from dali_core.loaders.loader import BaseLoader
from dali_core.loaders.recipes import (
    audio_folder,
    csv_folder,
    image_folder,
    segmentation_folder,
    video_folder,
)
from dali_core.loaders.recipes.image_folder import IMAGENET_MEAN, IMAGENET_STD
from dali_core.loaders.recipes.program import run
from dali_core.loaders.recipes.settings import Settings, Target, height_and_width, integer
from dali_core.loaders.recipes.tables import read_table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dali_core.loaders.recipes.settings import (
        AudioOptions,
        Folder,
        FolderOptions,
        ImageOptions,
        TableOptions,
        VideoOptions,
    )

Tuples = TypeVar("Tuples", bound=BaseLoader[Any])
Dicts = TypeVar("Dicts", bound=BaseLoader[Any])
Named = TypeVar("Named", bound=BaseLoader[Any])
NamedRows = TypeVar("NamedRows", bound=BaseLoader[Any])


class FolderLoaders(Generic[Tuples, Dicts, Named, NamedRows]):
    """Makes loaders for folders of common shapes.

    Each function writes a program, runs it, and returns its loader, whose `code` is the text of the
    program: start from it for all that the function has no option for.

    All take these keywords besides their own: `batch_size` (64); `train` (True): shuffle and
    augment, or give all samples in their order; `num_threads`, by default as many as processors;
    `seed` (0); `shard_id` and `num_shards`, by default those of this process where PyTorch or JAX
    has a group of processes; and `last_batch`, `device`, `channels_last`, `steps_per_epoch` and
    `as_dict` of the loader. With `file_names` (False) batches have a last output `file_names`: a
    list of str, the path of each file, below `root` where there is one and they are no videos.

    Parameters
    ----------
    loader : type
        Class of the loaders.
    target : Target
        The framework.
    """

    def __init__(self, loader: type[BaseLoader[Any]], target: Target) -> None:
        self._loader = loader
        self._target = target

    @overload
    def image_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[False] = False,
        **options: Unpack[ImageOptions],
    ) -> Tuples: ...

    @overload
    def image_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[True],
        file_names: Literal[False] = False,
        **options: Unpack[ImageOptions],
    ) -> Dicts: ...

    @overload
    def image_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[True],
        **options: Unpack[ImageOptions],
    ) -> Named: ...

    def image_folder(
        self,
        root: Folder,
        *,
        size: int | Sequence[int] = 224,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        as_dict: bool = False,
        file_names: bool = False,
        **options: Unpack[FolderOptions],
    ) -> Any:
        """Return a loader for images that have a folder for each class.

        For training a random part of each image is resized, and flipped at random; for validation
        the middle of each image is taken. Batches are ``(images, labels)``.

        Parameters
        ----------
        root : path
            The folder of the class folders; it may be a URL, such as ``s3://bucket/train``.
        size : int or (int, int)
            Height and width of the images, in pixels.
        mean, std : sequence of float
            Of the colours red, green and blue between 0 and 1; by default those of ImageNet. Images
            are float32: ``(pixel / 255 - mean) / std``.
        as_dict, file_names, **options
            See `FolderLoaders`.

        Returns
        -------
        Loader
            Of images, channels first in PyTorch, and class indices.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ArgumentConflictError
            If an argument is wrong, or the folder has no images.
        """
        settings = self._settings("image_folder", options, as_dict, file_names)
        text = image_folder.program(settings, root, height_and_width(size), mean, std)
        return self._made(text, "image_folder")

    @overload
    def segmentation_folder(
        self,
        images: Folder,
        masks: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[False] = False,
        **options: Unpack[ImageOptions],
    ) -> Tuples: ...

    @overload
    def segmentation_folder(
        self,
        images: Folder,
        masks: Folder,
        *,
        as_dict: Literal[True],
        file_names: Literal[False] = False,
        **options: Unpack[ImageOptions],
    ) -> Dicts: ...

    @overload
    def segmentation_folder(
        self,
        images: Folder,
        masks: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[True],
        **options: Unpack[ImageOptions],
    ) -> Named: ...

    def segmentation_folder(
        self,
        images: Folder,
        masks: Folder,
        *,
        size: int | Sequence[int] = 224,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        as_dict: bool = False,
        file_names: bool = False,
        **options: Unpack[FolderOptions],
    ) -> Any:
        """Return a loader for images and their masks, which are in two folders.

        Files belong together whose paths differ in their extension only. For training both are cut
        to the same random window and flipped alike. Masks are resized to nearest neighbours: they
        have the values of their files.

        Parameters
        ----------
        images, masks : path
            The folders. Masks are images of one channel whose values are classes.
        size : int or (int, int)
            Height and width, in pixels.
        mean, std : sequence of float
            See `image_folder`.
        as_dict, file_names, **options
            See `FolderLoaders`.

        Returns
        -------
        Loader
            Of images as of `image_folder`, and masks int64 of shape (samples, height, width).

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ArgumentConflictError
            If an argument is wrong, or a file is without its other one.
        """
        settings = self._settings("segmentation_folder", options, as_dict, file_names)
        text = segmentation_folder.program(
            settings, images, masks, height_and_width(size), mean, std
        )
        return self._made(text, "segmentation_folder")

    @overload
    def csv_folder(
        self,
        table: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[False] = False,
        **options: Unpack[TableOptions],
    ) -> Tuples: ...

    @overload
    def csv_folder(
        self,
        table: Folder,
        *,
        as_dict: Literal[True],
        file_names: Literal[False] = False,
        **options: Unpack[TableOptions],
    ) -> Dicts: ...

    @overload
    def csv_folder(
        self,
        table: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[True],
        **options: Unpack[TableOptions],
    ) -> NamedRows: ...

    def csv_folder(
        self,
        table: Folder,
        *,
        root: Folder | None = None,
        path: str = "path",
        columns: Sequence[str] | None = None,
        size: int | Sequence[int] = 224,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        as_dict: bool = False,
        file_names: bool = False,
        **options: Unpack[FolderOptions],
    ) -> Any:
        """Return a loader for images whose paths and labels are in a table.

        Parameters
        ----------
        table : path
            A CSV file with a header, or a Parquet file.
        root : path, optional
            What the paths relate to; by default the folder of the table.
        path : str
            The column of paths.
        columns : sequence of str, optional
            The columns to give, by default all others: of numbers, or of texts, which become class
            indices in the order of the sorted texts.
        size : int or (int, int)
            Height and width of the images, in pixels.
        mean, std : sequence of float
            See `image_folder`.
        as_dict, file_names, **options
            See `FolderLoaders`.

        Returns
        -------
        Loader
            Of images as of `image_folder`, and an array of shape (samples,) for each column:
            integers are int64, others float32.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ArgumentConflictError
            If an argument or the table is wrong.
        """
        settings = self._settings("csv_folder", options, as_dict, file_names)
        found = read_table(table, path=path, columns=columns)
        root = os.path.dirname(os.path.abspath(table)) if root is None else root
        text = csv_folder.program(
            settings, table, found, root, path, height_and_width(size), mean, std
        )
        return self._made(text, "csv_folder")

    @overload
    def audio_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[False] = False,
        **options: Unpack[AudioOptions],
    ) -> Tuples: ...

    @overload
    def audio_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[True],
        file_names: Literal[False] = False,
        **options: Unpack[AudioOptions],
    ) -> Dicts: ...

    @overload
    def audio_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[True],
        **options: Unpack[AudioOptions],
    ) -> Named: ...

    def audio_folder(
        self,
        root: Folder,
        *,
        seconds: float = 1.0,
        sample_rate: int = 16000,
        num_mels: int | None = None,
        as_dict: bool = False,
        file_names: bool = False,
        **options: Unpack[FolderOptions],
    ) -> Any:
        """Return a loader for sounds that have a folder for each class.

        Channels are mixed to one. Of longer sounds a part is taken, at random for training and from
        the middle for validation; shorter ones are followed by silence.

        Parameters
        ----------
        root : path
            The folder of the class folders.
        seconds : float
            Length of the sounds.
        sample_rate : int
            In Hz; sounds of other rates are resampled.
        num_mels : int, optional
            Give mel spectrograms with so many bands, in decibels, for windows of 25 ms every 10 ms;
            by default waveforms are given.
        as_dict, file_names, **options
            See `FolderLoaders`.

        Returns
        -------
        Loader
            Of float32 of shape (samples, length) or (samples, bands, windows), and class indices.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ArgumentConflictError
            If an argument is wrong, or the folder has no sounds.
        """
        settings = self._settings("audio_folder", options, as_dict, file_names)
        rate = integer("sample_rate", sample_rate, 1)
        if not 0 < seconds < 1e6:
            raise ArgumentValueError(f"seconds: must be above 0 and below 10**6 (got {seconds}).")
        length = max(1, round(seconds * rate))
        mels = None if num_mels is None else integer("num_mels", num_mels, 1)
        text = audio_folder.program(settings, root, rate, length, mels)
        return self._made(text, "audio_folder")

    @overload
    def video_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[False] = False,
        **options: Unpack[VideoOptions],
    ) -> Tuples: ...

    @overload
    def video_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[True],
        file_names: Literal[False] = False,
        **options: Unpack[VideoOptions],
    ) -> Dicts: ...

    @overload
    def video_folder(
        self,
        root: Folder,
        *,
        as_dict: Literal[False] = False,
        file_names: Literal[True],
        **options: Unpack[VideoOptions],
    ) -> Named: ...

    def video_folder(
        self,
        root: Folder,
        *,
        num_frames: int = 16,
        stride: int = 1,
        size: int | Sequence[int] = 112,
        mean: Sequence[float] = IMAGENET_MEAN,
        std: Sequence[float] = IMAGENET_STD,
        as_dict: bool = False,
        file_names: bool = False,
        **options: Unpack[FolderOptions],
    ) -> Any:
        """Return a loader for clips of videos that have a folder for each class.

        Every `num_frames` frames of a video are a clip. For training all frames of a clip are cut
        to the same random window and flipped alike; for validation the middle is taken.

        Parameters
        ----------
        root : path
            The folder of the class folders.
        num_frames : int
            Frames of a clip.
        stride : int
            Every how many frames of the video one is taken.
        size : int or (int, int)
            Height and width, in pixels.
        mean, std : sequence of float
            See `image_folder`.
        as_dict, file_names, **options
            See `FolderLoaders`.

        Returns
        -------
        Loader
            Of float32, in PyTorch of shape (samples, channels, frames, height, width), elsewhere
            (samples, frames, height, width, channels), and class indices.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ArgumentConflictError
            If an argument is wrong, or the folder has no videos.
        """
        settings = self._settings("video_folder", options, as_dict, file_names)
        text = video_folder.program(
            settings,
            root,
            integer("num_frames", num_frames, 1),
            integer("stride", stride, 1),
            height_and_width(size),
            mean,
            std,
        )
        return self._made(text, "video_folder")

    def _settings(
        self, function: str, options: FolderOptions, as_dict: bool, file_names: bool
    ) -> Settings:
        return Settings.of(self._target, options, function, as_dict=as_dict, file_names=file_names)

    def _made(self, text: str, function: str) -> Any:
        loader = run(text, function)["make_loader"]()
        assert isinstance(loader, self._loader)
        loader._code = text
        return loader
