"""The PaddlePaddle adapter: the suite that any adapter must pass."""

from __future__ import annotations

import importlib
from typing import Any

import numpy
import pytest

from dali_core import compat
from dali_core.adapters import get_adapter
from dali_core.testing import AdapterSuite

paddle = pytest.importorskip("paddle", reason="not available: PaddlePaddle")

import dali_core_paddle  # noqa: E402

from dali_core.plugin import paddle as plugin  # noqa: E402


class TestPaddleAdapter(AdapterSuite):
    adapter = dali_core_paddle.adapter

    def to_numpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        assert isinstance(array, paddle.Tensor)
        return numpy.from_dlpack(array)


def test_adapter_is_registered() -> None:
    assert get_adapter("paddle") is dali_core_paddle.adapter


def test_plugin_module_exports_the_adapter_objects() -> None:
    for name in (
        "DALIClassificationIterator",
        "DALIGenericIterator",
        "LastBatchPolicy",
        "feed_ndarray",
    ):
        assert getattr(plugin, name) is getattr(dali_core_paddle, name)


def test_programs_for_nvidia_dali_find_it() -> None:
    compat.install()
    try:
        assert importlib.import_module("nvidia.dali.plugin.paddle") is plugin
    finally:
        compat.uninstall()
