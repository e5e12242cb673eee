"""Operators that cannot read objects say so, and what to do instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError
from dali_core.testing.examples import list_of
from tests import video_files
from tests.operators.suite import function_of

URL = "s3://bucket/data"


def build(operator: str, **arguments: Any) -> None:
    with Pipeline(1, 1, None) as pipeline:
        pipeline.set_outputs(*list_of(function_of(operator)(**arguments)))
    try:
        pipeline.build()
    finally:
        pipeline.close()


@pytest.mark.parametrize(
    ("operator", "arguments", "instead"),
    [
        ("readers.caffe", {"path": URL, "label_available": False}, r"fn\.readers\.webdataset"),
        ("readers.caffe2", {"path": [URL], "label_type": 4}, r"fn\.readers\.webdataset"),
    ],
)
def test_error_names_operator_and_url(
    operator: str, arguments: dict[str, Any], instead: str
) -> None:
    where = rf"fn\.{operator} at .*test_refused.py.*'{URL}'"
    with pytest.raises(ArgumentValueError, match=f"{where}.*{instead}"):
        build(operator, **arguments)


def test_whole_videos_from_urls_raise(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="not available: fsspec")
    path = video_files.make(tmp_path, "h264.mp4")
    fsspec.filesystem("memory").pipe("videos/one", path.read_bytes())
    found = []
    for name in (str(path), "memory://videos/one"):
        with Pipeline(1, 1, None) as pipeline:
            encoded, _ = fn.readers.file(files=[name])
            pipeline.set_outputs(fn.decoders.video(encoded))
        found.append(np.array(pipeline.run()[0].at(0)))
        pipeline.close()
    np.testing.assert_array_equal(found[0], found[1], strict=True)
