"""The TensorFlow adapter: the suite that any adapter must pass, and tests of its own."""

from __future__ import annotations

import importlib
from typing import Any

import numpy
import pytest

from dali_core import Pipeline, compat, fn
from dali_core.adapters import get_adapter
from dali_core.testing import AdapterSuite

tf = pytest.importorskip("tensorflow", reason="not available: TensorFlow")

import dali_core_tensorflow  # noqa: E402

from dali_core.plugin import tf as plugin  # noqa: E402


class TestTensorFlowAdapter(AdapterSuite):
    adapter = dali_core_tensorflow.adapter

    def to_numpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        assert isinstance(array, tf.Tensor)
        return numpy.asarray(memoryview(array))


def test_adapter_is_registered() -> None:
    assert get_adapter("tensorflow") is dali_core_tensorflow.adapter


def test_plugin_module_exports_the_adapter_objects() -> None:
    assert plugin.DALIDataset is dali_core_tensorflow.DALIDataset
    for name in ("DALIDatasetWithInputs", "Input"):
        assert getattr(plugin.experimental, name) is getattr(dali_core_tensorflow, name)
    assert plugin.dataset_compatible_tensorflow()
    assert plugin.dataset_inputs_compatible_tensorflow()
    assert plugin.dataset_distributed_compatible_tensorflow()


def test_ragged_batches() -> None:
    samples = [numpy.array([[1, 2]], numpy.int32), numpy.array([[3, 4], [5, 6]], numpy.int32)]
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(fn.external_source(source=iter([samples]), batch=True))
    (batch,) = dali_core_tensorflow.adapter.iterator(pipeline, ["x"], output_types=["ragged"])
    assert isinstance(batch[0]["x"], tf.RaggedTensor)
    assert batch[0]["x"].to_list() == [[[1, 2]], [[3, 4], [5, 6]]]


def test_programs_for_nvidia_dali_find_it() -> None:
    compat.install()
    try:
        assert importlib.import_module("nvidia.dali.plugin.tf") is plugin
    finally:
        compat.uninstall()
