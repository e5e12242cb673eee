"""Images of batches, for tools that log them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dali_core._display.coloring import Image8
from dali_core._display.tensors import as_picture
from dali_core.errors import ArgumentTypeError


def images_of(batch: Any, most: int = 16) -> list[Image8]:
    """Return the samples of a batch as images that TensorBoard, W&B and others take.

    Parameters
    ----------
    batch : TensorListCPU, TensorListGPU, array or tensor on the host
        Images of any type and layout, sequences, of which the first frames are taken, or
        spectrograms. Normalized images are stretched from their smallest to their largest number.
    most : int
        Number of samples to take at most.

    Returns
    -------
    list of uint8 array of shape (height, width, 3)
        The images.

    Raises
    ------
    ArgumentTypeError
        If the samples are something else.

    Examples
    --------
    >>> writer.add_images("batch", np.stack(images_of(images)), step, dataformats="NHWC")
    >>> wandb.log({"batch": [wandb.Image(image) for image in images_of(images)]})
    """
    if hasattr(batch, "as_cpu"):
        batch = batch.as_cpu()
    layout = batch.layout() if callable(getattr(batch, "layout", None)) else ""
    samples: Iterable[Any] = (batch[i] for i in range(min(most, len(batch))))
    images = []
    for number, sample in enumerate(samples):
        array = np.asarray(sample)
        picture = as_picture(array, layout)
        if picture is None:
            raise ArgumentTypeError(
                f"images_of: the samples must be images, sequences or spectrograms (got sample "
                f"{number} of shape {array.shape} and type {array.dtype}). Pass another output."
            )
        images.append(picture)
    return images
