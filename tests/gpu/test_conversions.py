"""Conversions by instructions of the device have the host's bits: for halves, all there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types

pytestmark = pytest.mark.gpu

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def floats() -> np.ndarray[Any, Any]:
    """All halves, the middles between them and their neighbours, and many NaN."""
    with np.errstate(invalid="ignore"):
        exact = HALVES.astype(np.float32)
    bits = exact.view(np.uint32)
    near = [bits + np.uint32(change) for change in (0x0FFF, 0x1000, 0x1001, 0x1FFF)]
    quiet = np.arange(0x7F800001, 0x7FFFFFFF, 4099, dtype=np.uint32)
    return np.concatenate([bits, *near, quiet, quiet | np.uint32(1 << 31)]).view(np.float32)


def cast(data: np.ndarray[Any, Any], dtype: types.DALIDataType, device: str) -> bytes:
    with Pipeline(batch_size=1, num_threads=1, device_id=0) as pipeline:
        source = fn.external_source(source=lambda: [data])
        pipeline.set_outputs(fn.cast(source.gpu() if device == "gpu" else source, dtype=dtype))
    (batch,) = pipeline.run()
    result: np.ndarray[Any, Any] = (batch.as_cpu() if device == "gpu" else batch).as_array()[0]
    pipeline.close()
    return result.tobytes()


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (floats(), types.FLOAT16),
        (HALVES, types.FLOAT),
        (floats(), types.UINT8),
        (np.linspace(-2, 258, 1 << 16, dtype=np.float32), types.UINT8),
        (np.arange(-4, 1100, dtype=np.float32) / 4, types.UINT8),
        (np.arange(256, dtype=np.uint8), types.FLOAT16),
        (np.arange(256, dtype=np.uint8), types.FLOAT),
    ],
    ids=["to half", "from half", "to byte", "to byte, steps", "quarters", "byte to half", "byte"],
)
def test_casts_have_the_bits_of_the_host(
    data: np.ndarray[Any, Any], dtype: types.DALIDataType
) -> None:
    assert cast(data, dtype, "gpu") == cast(data, dtype, "cpu")
