"""Structure of batches, policies, and arguments of the iterator for JAX."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core.errors import AdapterError, ArgumentTypeError, ArgumentValueError, SampleError
from tests.adapters.dali_core_jax.pipelines import flat, numbers, shards, source_pipeline

jax = pytest.importorskip("jax", reason="not available: JAX")

from jax.sharding import NamedSharding, SingleDeviceSharding  # noqa: E402

from dali_core.plugin.jax import DALIGenericIterator, LastBatchPolicy  # noqa: E402

FILL, DROP, PARTIAL = LastBatchPolicy
OPTIONS = {"reader_name": "numbers", "auto_reset": True}


class TestOnePipeline:
    def test_gives_a_dictionary(self) -> None:
        sources = [numpy.full((2, 3), 1, numpy.float32)], [numpy.full((2,), 2, numpy.int32)]
        for pipelines in (source_pipeline(*sources), [source_pipeline(*sources)]):
            (batch,) = DALIGenericIterator(pipelines, ["data", "label"])
            assert list(batch) == ["data", "label"]
            assert all(isinstance(array, jax.Array) for array in batch.values())
            assert batch["data"].sharding == SingleDeviceSharding(jax.devices()[0])
            assert batch["data"].tolist() == [[1, 1, 1], [1, 1, 1]]
            assert batch["label"].tolist() == [2, 2]

    def test_leading_axis_for_pmap(self, tmp_path: Path) -> None:
        pipelines = shards(tmp_path, 7, 1, batch_size=2)
        batch = next(DALIGenericIterator(pipelines, ["x"], pmap_compatible=True, **OPTIONS))
        assert batch["x"].tolist() == [[[0], [1]]]
        assert isinstance(batch["x"].sharding, NamedSharding)

    def test_on_a_device_of_choice(self, tmp_path: Path) -> None:
        device = jax.devices()[3]
        for pmap_compatible, shape in ((None, (1, 2, 1)), (True, (1, 2, 1)), (False, (2, 1))):
            batch = next(
                DALIGenericIterator(
                    shards(tmp_path, 7, 1, batch_size=2),
                    ["x"],
                    pmap_compatible=pmap_compatible,
                    devices=[device],
                    **OPTIONS,
                )
            )
            assert batch["x"].shape == shape
            assert batch["x"].devices() == {device}


class TestSeveralPipelines:
    def test_batches_are_stacked(self, tmp_path: Path) -> None:
        batches = DALIGenericIterator(shards(tmp_path, 7, 2, batch_size=2), ["x"], **OPTIONS)
        batch = next(batches)["x"]
        assert batch.tolist() == [[[0], [1]], [[3], [4]]]
        assert batch.sharding == SingleDeviceSharding(jax.devices()[0])

    def test_on_devices(self, tmp_path: Path) -> None:
        devices = jax.devices()[4:7]
        pipelines = shards(tmp_path, 12, 3, batch_size=2)
        batch = next(DALIGenericIterator(pipelines, ["x"], devices=devices, **OPTIONS))["x"]
        assert batch.tolist() == [[[0], [1]], [[4], [5]], [[8], [9]]]
        for index, shard in enumerate(batch.addressable_shards):
            assert (shard.device, flat(shard.data)) == (devices[index], [4 * index, 4 * index + 1])

    def test_leading_axis_of_several_pipelines_for_pmap(self, tmp_path: Path) -> None:
        pipelines = shards(tmp_path, 16, 8, batch_size=2)
        batch = next(DALIGenericIterator(pipelines, ["x"], devices=jax.devices(), **OPTIONS))["x"]
        sums = jax.pmap(lambda x: jax.lax.psum(x.sum(), "i"), axis_name="i")(batch)
        assert flat(sums) == [120] * 8

    def test_shapes_must_be_equal(self) -> None:
        one, two = ([numpy.zeros((2, n), numpy.float32)] * 3 for n in (3, 4))
        for options in ({}, {"devices": jax.devices()[:2]}):
            with pytest.raises(AdapterError, match=r"same shape \(got \[\(2, 3\), \(2, 4\)\]\)"):
                DALIGenericIterator(
                    [source_pipeline(one), source_pipeline(two)], ["x"], size=12, **options
                )


class TestPolicies:
    @pytest.mark.parametrize(
        ("policy", "pad", "epochs"),
        [
            (FILL, False, [[[0, 1], [2, 3], [4, 5], [6, 0]], [[1, 2], [3, 4], [5, 6]]]),
            (FILL, True, [[[0, 1], [2, 3], [4, 5], [6, 6]], [[0, 1], [2, 3], [4, 5], [6, 6]]]),
            (DROP, False, [[[0, 1], [2, 3], [4, 5]], [[0, 1], [2, 3], [4, 5]]]),
            (DROP, True, [[[0, 1], [2, 3], [4, 5]], [[0, 1], [2, 3], [4, 5]]]),
        ],
    )
    @pytest.mark.filterwarnings("ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning")
    def test_fill_and_drop(
        self, tmp_path: Path, policy: LastBatchPolicy, pad: bool, epochs: list[Any]
    ) -> None:
        pipeline = numbers(tmp_path, 7, batch_size=2, pad_last_batch=pad)
        iterator = DALIGenericIterator(pipeline, ["x"], last_batch_policy=policy, **OPTIONS)
        for expected in epochs:
            assert len(iterator) == len(expected)
            assert [flat(batch["x"]) for batch in iterator] == expected

    @pytest.mark.parametrize("options", [{"reader_name": "numbers"}, {"size": 7}, {}])
    def test_partial_policy_raises_and_suggests_masks(
        self, tmp_path: Path, options: dict[str, Any]
    ) -> None:
        pipeline = numbers(tmp_path, 7, batch_size=2)
        for policy in (PARTIAL, "partial"):
            with pytest.raises(
                ArgumentValueError, match=r"FILL or DROP .*got PARTIAL\)\. .*mask_n"
            ):
                DALIGenericIterator(pipeline, ["x"], last_batch_policy=policy, **options)

    def test_size(self) -> None:
        batches = [numpy.array([[n], [n + 1]], numpy.int32) for n in range(0, 20, 2)]
        iterator = DALIGenericIterator(
            source_pipeline(batches), ["x"], size=7, last_batch_policy=DROP, auto_reset=True
        )
        assert (iterator.size, len(iterator)) == (7, 3)
        assert [flat(batch["x"]) for batch in iterator] == [[0, 1], [2, 3], [4, 5]]


class TestErrors:
    def test_ragged_batches(self) -> None:
        ragged = [[numpy.zeros(3, numpy.float32), numpy.zeros(2, numpy.float32)]]
        with pytest.raises(
            AdapterError, match=r"'x': .*\(3,\), \(2,\).* Resize or pad.*pipeline\.$"
        ):
            DALIGenericIterator(source_pipeline(ragged), ["x"])

    def test_a_bad_sample_is_skipped(self) -> None:
        def batches() -> Any:
            for index in range(4):
                yield numpy.zeros((3 if index == 1 else 2, 1), numpy.float32) + index

        iterator = DALIGenericIterator(source_pipeline(batches()), ["x"], size=8)
        assert flat(next(iterator)["x"]) == [0, 0]
        with pytest.raises(SampleError, match="at most batch_size = 2"):
            next(iterator)
        assert [flat(batch["x"]) for batch in iterator] == [[2, 2], [3, 3]]

    def test_devices(self, tmp_path: Path) -> None:
        devices = jax.devices()
        pipelines = shards(tmp_path, 4, 2, batch_size=2)

        def make(**options: Any) -> Any:
            return DALIGenericIterator(pipelines, ["x"], **OPTIONS, **options)

        with pytest.raises(ArgumentValueError, match=r"pipelines: .* 3 for \[.*\(got 2\)"):
            make(devices=devices[:3])
        with pytest.raises(ArgumentValueError, match="must name different devices"):
            make(devices=[devices[0], devices[0]])
        with pytest.raises(ArgumentValueError, match="must name different devices"):
            make(devices=[])
        with pytest.raises(ArgumentTypeError, match=r"list of jax\.Device \(got \[0, 1\]\)"):
            make(devices=[0, 1])

    def test_names(self, tmp_path: Path) -> None:
        pipeline = numbers(tmp_path, 7, batch_size=2)
        with pytest.raises(ArgumentValueError, match="distinct names"):
            DALIGenericIterator(pipeline, ["x", "x"], **OPTIONS)
        with pytest.raises(ArgumentValueError, match="name every output"):
            DALIGenericIterator(pipeline, ["x", "y"], **OPTIONS)


def test_arguments_are_those_of_the_reference() -> None:
    expected = {
        "pipelines": inspect.Parameter.empty,
        "output_map": inspect.Parameter.empty,
        "size": -1,
        "reader_name": None,
        "auto_reset": False,
        "last_batch_padded": False,
        "last_batch_policy": FILL,
        "prepare_first_batch": True,
        "sharding": None,
        "pmap_compatible": None,
    }
    parameters = list(inspect.signature(DALIGenericIterator).parameters.values())
    ours = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    assert ours == ["devices", "mask_name"]
    assert {p.name: p.default for p in parameters if p.name not in ours} == expected
