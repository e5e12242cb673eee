"""The JAX adapter: the suite that any adapter must pass, and tests specific to JAX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy
import pytest

from dali_core.adapters import get_adapter
from dali_core.errors import AdapterError
from dali_core.testing import AdapterSuite
from tests.adapters.dali_core_jax.pipelines import source_pipeline

jax = pytest.importorskip("jax", reason="not available: JAX")

import dali_core_jax  # noqa: E402

from dali_core.plugin import jax as plugin  # noqa: E402
from dali_core.plugin.jax import clu  # noqa: E402


class TestJAXAdapter(AdapterSuite):
    adapter = dali_core_jax.adapter
    dtypes: ClassVar = tuple(name for name in AdapterSuite.dtypes if not name.endswith("64"))

    def to_numpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        assert isinstance(array, jax.Array)
        return numpy.asarray(array)


class TestJAXAdapterWith64Bits(TestJAXAdapter):
    dtypes: ClassVar = AdapterSuite.dtypes

    @pytest.fixture(autouse=True)
    def _with_64_bits(self) -> Iterator[None]:
        jax.config.update("jax_enable_x64", True)
        yield
        jax.config.update("jax_enable_x64", False)


def test_adapter_is_registered() -> None:
    assert get_adapter("jax") is dali_core_jax.adapter


def test_plugin_module_exports_the_adapter_objects() -> None:
    for name in ("DALIGenericIterator", "data_iterator", "LastBatchPolicy"):
        assert getattr(plugin, name) is getattr(dali_core_jax, name)
    for name in ("DALIGenericPeekableIterator", "peekable_data_iterator", "ArraySpec"):
        assert getattr(clu, name) is getattr(dali_core_jax, name)
    assert clu.PeekableDALIGenericIterator is clu.DALIGenericPeekableIterator


@pytest.mark.parametrize("name", ["int64", "uint64", "float64"])
def test_64_bits_become_32_as_everywhere_in_jax(name: str) -> None:
    data = numpy.array([[0], [1], [7]], name)
    (batch,) = source_pipeline([data], batch_size=3).run()
    array = dali_core_jax.adapter.represent(batch, "dense", 3)
    assert array.dtype == name.replace("64", "32")
    assert array.tolist() == data.tolist()


LIMITS = [
    ("int64", [2**31 - 1, -(2**31)], [2**31, -(2**31) - 1, 2**40]),
    ("uint64", [0, 2**32 - 1], [2**32, 2**63]),
    ("float64", [0.0, 2.0**100, numpy.inf, numpy.nan], [1e300, -1e39]),
]


@pytest.mark.parametrize(("name", "right", "wrong"), LIMITS)
def test_values_that_do_not_fit_into_32_bits_are_errors(
    name: str, right: list[Any], wrong: list[Any]
) -> None:
    def first(value: Any) -> Any:
        data = numpy.full((2, 1), value, name)
        pipelines = [source_pipeline([data], batch_size=2) for _ in range(2)]
        (batch,) = pipelines[0].run()
        array = dali_core_jax.adapter.represent(batch, "dense", 2)
        iterator = dali_core_jax.DALIGenericIterator(pipelines[1], ["numbers"])
        numpy.testing.assert_array_equal(array, next(iterator)["numbers"], strict=True)
        return array

    for value in right:
        numpy.testing.assert_array_equal(numpy.asarray(first(value)), numpy.full((2, 1), value))
    for value in wrong:
        with pytest.raises(AdapterError, match=rf"a batch: values of type {name} must fit into"):
            first(value)
        pipeline = source_pipeline([numpy.full((2, 1), value, name)], batch_size=2)
        with pytest.raises(AdapterError, match=r"output 'numbers': .*jax_enable_x64"):
            dali_core_jax.DALIGenericIterator(pipeline, ["numbers"])
        jax.config.update("jax_enable_x64", True)
        try:
            assert first(value).dtype == name
        finally:
            jax.config.update("jax_enable_x64", False)


def test_lost_digits_are_a_warning_for_each_output_once() -> None:
    data = [numpy.full((2, 1), 0.1)] * 3
    pipeline = source_pipeline(data, batch_size=2)
    iterator = dali_core_jax.DALIGenericIterator(pipeline, ["numbers"], prepare_first_batch=False)
    with pytest.warns(UserWarning, match="output 'numbers': JAX makes float32 of float64") as found:
        batches = [next(iterator)["numbers"] for _ in range(3)]
    assert len(found) == 1
    assert all(batch.dtype == "float32" for batch in batches)


def test_arrays_go_to_the_default_device() -> None:
    (batch,) = source_pipeline([numpy.ones((2, 3), numpy.float32)]).run()
    for device in (*jax.devices()[5:6], jax.devices()[0]):
        with jax.default_device(device):
            assert dali_core_jax.adapter.represent(batch, "dense", 2).devices() == {device}
    with jax.default_device("cpu"):
        assert dali_core_jax.adapter.represent(batch, "dense", 2).devices() == {jax.devices()[0]}
