"""Reads image files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dali_core._call.location import user_location
from dali_core._registry.specs import find_own
from dali_core.dynamic._constructors import as_batch, as_tensor
from dali_core.dynamic._devices import check_host
from dali_core.dynamic._lazy import Lazy, call_operator
from dali_core.errors import ArgumentTypeError, ArgumentValueError


def imread(paths: Any, /, *, device: Any = None, **arguments: Any) -> Any:
    """Read and decode image files.

    Parameters
    ----------
    paths : str, Path, list of these, Tensor or Batch
        The files; a list or a batch gives a batch. Tensors hold the bytes of a path.
    device : str or Device, optional
        The host.
    **arguments
        Arguments of `decoders.image`.

    Returns
    -------
    Tensor or Batch
        Images, HWC.
    """
    where = f"imread at {user_location()}"
    check_host(device, "imread")
    if isinstance(paths, (str, Path)):
        names: Any = as_tensor(_encoded(paths, where))
    elif isinstance(paths, (list, tuple)):
        if not paths:
            raise ArgumentValueError(f"{where}: there must be a path (got none). Pass some.")
        names = as_batch([_encoded(path, where) for path in paths])
    elif isinstance(paths, Lazy):
        names = paths
    else:
        raise ArgumentTypeError(
            f"{where}: paths must be a path or a list of paths (got a {type(paths).__name__}). "
            "Convert it."
        )
    read, decode = find_own("io.file.read"), find_own("decoders.image")
    assert read is not None
    assert decode is not None
    return call_operator(decode, (call_operator(read, (names,), {}),), arguments)


def _encoded(path: Any, where: str) -> Any:
    import numpy

    if not isinstance(path, (str, Path)):
        raise ArgumentTypeError(
            f"{where}: a path must be a text or a Path (got a {type(path).__name__}). Convert it."
        )
    return numpy.frombuffer(os.fsencode(path), numpy.uint8).copy()
