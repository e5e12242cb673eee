"""The conversion of data to values, which values call themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Conversions:
    """What makes tensors and batches of data.

    Attributes
    ----------
    as_tensor, as_batch : callable
        The functions of these names; they are set when the module with them is imported.
    as_input : callable
        Makes a tensor of an input of a call, which a text describes.
    """

    as_tensor: Callable[..., Any]
    as_batch: Callable[..., Any]
    as_input: Callable[[Any, str], Any]


conversions = Conversions()
