"""Devices by name."""

from __future__ import annotations

import re
import threading
from types import TracebackType
from typing import Any, ClassVar

from dali_core._call.location import user_location
from dali_core.errors import ArgumentTypeError, ArgumentValueError, CudaUnavailableError


class Device:
    """Where data is, or calls are computed; a context manager for the thread that enters it.

    Parameters
    ----------
    name : str
        ``"cpu"``, ``"gpu"`` or ``"cuda"``, perhaps with a number, such as ``"gpu:1"``.
    device_id : int, optional
        Number of the device.

    Attributes
    ----------
    device_type : str
        ``"cpu"`` or ``"gpu"``.
    device_id : int or None
        Number of the device; None on the host.
    """

    CPU: ClassVar[Device]

    def __init__(self, name: str, device_id: int | None = None) -> None:
        where = f"Device at {user_location()}"
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"{where}: name must be a text (got a {type(name).__name__}). Use 'cpu' or 'gpu'."
            )
        found = re.fullmatch(r"(cpu|gpu|cuda)(?::(\d{1,4}))?", name)
        is_host = name.startswith("cpu")
        if found is None or (is_host and (found[2] or device_id is not None)):
            raise ArgumentValueError(
                f"{where}: name must be 'cpu', 'gpu' or 'gpu:1' (got {name!r:.60}). Use one."
            )
        self.device_type = "cpu" if is_host else "gpu"
        number = int(found[2]) if found[2] else device_id
        self.device_id = None if is_host else number or 0

    @staticmethod
    def current() -> Device:
        """Return the device of this thread: the innermost one that it has entered, or the host."""
        return _local.devices[-1] if _local.devices else Device.CPU

    def __enter__(self) -> Device:
        _local.devices.append(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _local.devices.pop()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str(self) == other or (self.device_type == other and not self.device_id)
        return isinstance(other, Device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return self.device_type if self.device_id is None else f"gpu:{self.device_id}"

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"


Device.CPU = Device("cpu")


class _Local(threading.local):
    def __init__(self) -> None:
        self.devices: list[Device] = []


_local = _Local()


def device(value: Any, device_id: int | None = None) -> Any:
    """Return the device that a value names.

    Parameters
    ----------
    value : Device, str, torch.device or None
        The device. None gives None.
    device_id : int, optional
        Number of the device.
    """
    if value is None or isinstance(value, Device):
        return value
    if not isinstance(value, str) and hasattr(value, "type") and hasattr(value, "index"):
        value, device_id = value.type, value.index if value.index is not None else device_id
    return Device(value, device_id)


def check_host(value: Any, what: str) -> None:
    """Check that a device is the host.

    Raises
    ------
    CudaUnavailableError
        If it is not: this API computes on the host.
    """
    if value is not None and device(value).device_type != "cpu":
        raise CudaUnavailableError(
            f"{what} at {user_location()}: this API computes on the host only (got "
            f"{device(value)}). Use torch().cuda(), or a pipeline with device='gpu'."
        )
