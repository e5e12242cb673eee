"""Layouts and sources of tensors as data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dali_core import fn
from dali_core.errors import ArgumentValueError
from tests.operators.suite import Example, images, pipeline, run_on

EXAMPLES = [
    Example("layout", [images("FHWC")], {"key": "layout"}),
    Example("source", [images()], {"key": "source_info"}),
]


@pytest.mark.parametrize("layout", ["", "HWC", "XYZ"])
def test_layout(layout: str) -> None:
    result = run_on("get_property", [np.zeros((2, 3, 4))], layout, key="layout")[0]
    assert result.dtype == np.uint8
    assert result.tobytes().decode() == layout


def test_layout_that_an_operator_sets() -> None:
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [np.zeros((2, 3, 4))], layout="HWC")
            planes = fn.transpose(data, perm=[2, 0, 1])
            made.set_outputs(fn.get_property(planes, key="layout"))
        (batch,) = made.run()
        assert np.array(batch.at(0)).tobytes() == b"CHW"


def test_data_from_elsewhere_has_no_source() -> None:
    assert run_on("get_property", [np.zeros(2)], key="source_info")[0].shape == (0,)


def test_source_info_is_propagated(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "café.jpg").write_bytes(b"12345")
    with pipeline(batch_size=2) as made:
        with made:
            data, _ = fn.readers.file(file_root=tmp_path)
            other = fn.external_source(source=lambda: [np.zeros(2, np.uint8)] * 2)
            values = (data, fn.cast_like(data, data), fn.cat(other, fn.copy(data)))
            made.set_outputs(*(fn.get_property(value, key="source_info") for value in values))
        for batch in made.run():
            names = [np.array(batch.at(i)).tobytes().decode() for i in range(2)]
            assert names == ["a/café.jpg", "b/café.jpg"]


@pytest.mark.parametrize("key", ["", "shape", "Layout"])
def test_unknown_key(key: str) -> None:
    with pytest.raises(ArgumentValueError, match="'key' must be 'layout' or 'source_info'"):
        run_on("get_property", [np.zeros(2)], key=key)
