"""The treatment of arrays of a framework after their conversion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class Placement(ABC):
    """Moves arrays of one framework to a device, joins them, and rearranges them.

    Parameters
    ----------
    device : optional
        What the loader was given as `device`, which may be refused; None to leave arrays where they
        are.
    """

    @abstractmethod
    def __init__(self, device: Any) -> None: ...

    @abstractmethod
    def move(self, array: Any, name: str) -> Any:
        """Return an array on the device that the loader was given, which is done last.

        Parameters
        ----------
        array : object
            A batch, or a sample.
        name : str
            The output that it belongs to, for messages.
        """

    @abstractmethod
    def join(self, parts: Sequence[Any]) -> Any:
        """Return the batches of several pipelines as one array, along the first axis."""

    @abstractmethod
    def channels_last(self, array: Any, channels: int) -> Any:
        """Return images or sequences in the framework's form with channels last.

        Parameters
        ----------
        array : object
            Of shape (samples, ...).
        channels : int
            Axis of the channels.
        """

    @abstractmethod
    def class_indices(self, array: Any) -> Any:
        """Return integers of shape (samples, 1) as the framework's losses expect class indices.

        Parameters
        ----------
        array : object
            As it was converted.

        Returns
        -------
        object
            Of shape (samples,); the array itself if it is no such array of int32 or int64.
        """
