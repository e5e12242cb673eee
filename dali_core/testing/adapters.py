"""Conformance suite for framework adapters.

Derive a class from `AdapterSuite` in a test module, say which adapter to test, and run pytest::

    from dali_core.testing import AdapterSuite
    from my_package import adapter

    class TestMyAdapter(AdapterSuite):
        adapter = adapter

        def to_numpy(self, array):
            return my_framework.to_numpy(array)

If the framework uses GPUs, derive from `DeviceAdapterSuite` as well. It is skipped without one.
"""

from __future__ import annotations

import functools
import gc
import json
import unittest
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, ParamSpec

import numpy

from dali_core import cuda, fn
from dali_core.adapters import Adapter, get_adapter, list_adapters
from dali_core.errors import (
    AdapterError,
    ArgumentTypeError,
    PipelineStateError,
)
from dali_core.pipeline import Pipeline
from dali_core.plugin.base_iterator import BaseIterator, IncompleteEpochWarning, LastBatchPolicy
from dali_core.tensors import TensorGPU, TensorListGPU
from dali_core.testing.expected import expect

FILL, DROP, PARTIAL = LastBatchPolicy
P = ParamSpec("P")

# Samples 0 to 6 in batches of 2: the last batch of an epoch, and the first of the next. With DROP
# and PARTIAL the iterator has the reader pad.
_POLICIES = (
    (FILL, False, [6, 0], [1, 2]),
    (FILL, True, [6, 6], [0, 1]),
    (DROP, False, [4, 5], [0, 1]),
    (DROP, True, [4, 5], [0, 1]),
    (PARTIAL, False, [6], [0, 1]),
    (PARTIAL, True, [6], [0, 1]),
)


def _with_any_epochs(test: Callable[P, None]) -> Callable[P, None]:
    """Have no warnings in a test that epochs are not the data set."""

    @functools.wraps(test)
    def tested(*args: P.args, **keywords: P.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IncompleteEpochWarning)
            test(*args, **keywords)

    return tested


class AdapterSuite:
    """Conformance tests of every adapter.

    Attributes
    ----------
    adapter : Adapter
        The adapter to test.
    dtypes : tuple of str
        Element types, as NumPy names them, that the framework can hold.
    """

    adapter: ClassVar[Adapter]
    dtypes: ClassVar[tuple[str, ...]] = (
        *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
        *("float16", "float32", "float64"),
    )
    _device_id: ClassVar[int | None] = None

    def to_numpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        """Return an array of the framework as a NumPy array that shares its memory."""
        return numpy.from_dlpack(array)

    def address(self, array: Any) -> int:
        """Return the address of the first element of an array of the framework."""
        return self.to_numpy(array).ctypes.data

    def shards(self, batch: Any) -> list[dict[str, Any]]:
        """Take what `Adapter.assemble` returned apart, into a dictionary for each pipeline."""
        return list(batch)

    # The adapter as an object

    def test_is_registered(self) -> None:
        """The adapter is found by its name."""
        assert self.adapter.name in list_adapters()
        assert type(get_adapter(self.adapter.name)) is type(self.adapter)

    def test_offers_dense_and_list(self) -> None:
        """Every adapter can represent uniform and ragged batches."""
        assert {"dense", "list"} <= set(self.adapter.representations)

    def test_has_no_stream_or_a_handle(self) -> None:
        """A stream is given by its handle, and only asked for where there is a device."""
        if self._device_id is None:
            assert callable(self.adapter.stream)
        else:
            stream = self.adapter.stream(self._device_id)
            assert stream is None or (isinstance(stream, int) and stream >= 0)

    # Memory

    def test_dense_batches_are_not_copied(self) -> None:
        """A dense batch is where the pipeline computed it."""
        (batch,) = self._run_once(numpy.arange(24, dtype=numpy.float32).reshape(4, 2, 3))
        given = self.adapter.represent(batch, "dense", 4)
        assert self.address(given) == batch.as_tensor().data_ptr()
        array = self.to_numpy(given)
        assert array.shape == (4, 2, 3)
        numpy.testing.assert_array_equal(array.ravel(), numpy.arange(24))

    def test_samples_are_not_copied(self) -> None:
        """The samples of a list are where the pipeline computed them."""
        (batch,) = self._run_once([numpy.full(i + 1, i, numpy.int32) for i in range(3)])
        given = self.adapter.represent(batch, "list", 3)
        assert [self.address(array) for array in given] == [item.data_ptr() for item in batch]
        assert [self.to_numpy(array).tolist() for array in given] == [[0], [1, 1], [2, 2, 2]]

    def test_partial_batches_are_not_copied(self) -> None:
        """Leaving samples out does not move the others."""
        (batch,) = self._run_once(numpy.arange(8, dtype=numpy.float32).reshape(4, 2))
        given = self.adapter.represent(batch, "dense", 3)
        assert self.address(given) == batch.as_tensor().data_ptr()
        array = self.to_numpy(given)
        assert array.tolist() == [[0, 1], [2, 3], [4, 5]]

    def test_batches_are_never_overwritten(self) -> None:
        """Returned arrays keep their content while they are referenced."""
        iterator = self._counting(num_batches=24, auto_reset=False)
        held = [self.shards(batch)[0]["number"] for batch in iterator]
        assert len(held) == 24
        for index, array in enumerate(held):
            assert self.to_numpy(array).tolist() == [[2 * index], [2 * index + 1]]

    def test_batches_outlive_the_pipeline(self) -> None:
        """A batch stays valid when its pipeline and iterator are gone."""
        held = [self.shards(batch)[0]["number"] for batch in self._counting(num_batches=3)]
        gc.collect()
        self._run_once(numpy.full((64, 1), 77, numpy.int64))  # would reuse freed memory
        assert [self.to_numpy(array).ravel().tolist() for array in held] == [[0, 1], [2, 3], [4, 5]]

    # Values

    def test_every_dtype(self) -> None:
        """Element types and values survive."""
        for dtype in self.dtypes:
            data = numpy.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
            (batch,) = self._run_once(data)
            array = self.to_numpy(self.adapter.represent(batch, "dense", 3))
            assert array.dtype == data.dtype
            numpy.testing.assert_array_equal(array, data)

    def test_scalars_and_empty_samples(self) -> None:
        """Samples may have no dimensions, or no elements."""
        (scalars,) = self._run_once(numpy.arange(3, dtype=numpy.int32))
        assert self.to_numpy(self.adapter.represent(scalars, "dense", 3)).tolist() == [0, 1, 2]
        (empty,) = self._run_once(numpy.zeros((3, 0, 2), numpy.float32))
        assert self.to_numpy(self.adapter.represent(empty, "dense", 3)).shape == (3, 0, 2)

    # Iterators

    @_with_any_epochs
    def test_last_batch_policies(self, tmp_path: Path) -> None:
        """The reference's examples, of all policies with and without padding."""
        for policy, pad, last, following in _POLICIES:
            iterator = self._reading(tmp_path, policy, pad_last_batch=pad)
            length = len(iterator)
            epoch = [self._labels(batch)[0] for batch in iterator]
            assert (length, epoch[-1]) == (len(epoch), last), (policy, pad)
            assert self._labels(next(iterator))[0] == following, (policy, pad)

    def test_labels_are_columns(self, tmp_path: Path) -> None:
        """Labels come as one row for each sample."""
        batch = next(iter(self._reading(tmp_path, FILL)))
        assert self.to_numpy(self.shards(batch)[0]["label"]).shape == (2, 1)

    def test_several_pipelines(self, tmp_path: Path) -> None:
        """Each pipeline's batch is kept apart; a shard that has run out gives no rows."""
        iterator = self._reading(tmp_path, PARTIAL, num_shards=2)
        assert [self._labels(batch) for batch in iterator] == [[[0, 1], [3, 4]], [[2], [5, 6]]]
        uneven = self._reading(tmp_path, PARTIAL, num_shards=2, num_samples=5)
        assert [self._labels(batch) for batch in uneven] == [[[0, 1], [2, 3]], [[], [4]]]

    @_with_any_epochs
    def test_size_and_length(self, tmp_path: Path) -> None:
        """Both follow the reader, and change where batches straddle epochs."""
        iterator = self._reading(tmp_path, FILL)
        assert (len(iterator), iterator.size) == (4, 8)
        list(iterator)
        assert (len(iterator), iterator.size) == (3, 6)
        padded = self._reading(tmp_path, FILL, pad_last_batch=True)
        assert (len(padded), padded.size) == (4, 7)

    def test_reset(self, tmp_path: Path) -> None:
        """An epoch ends until it is reset; a loop or a reset in mid-epoch begins the next one."""
        iterator = self._reading(tmp_path, PARTIAL, auto_reset=False, pad_last_batch=True)
        first = [self._labels(batch) for batch in iterator]
        expect(StopIteration, lambda: next(iterator))
        iterator.reset()
        iterator.reset()
        again = [self._labels(batch) for batch in iterator]
        assert again == first == [[[0, 1]], [[2, 3]], [[4, 5]], [[6]]]
        next(iter(iterator))
        assert [self._labels(batch) for batch in iterator] == first
        iterator.reset()
        next(iterator)
        iterator.reset()
        assert self._labels(next(iterator)) == first[0]

    def test_unknown_size(self) -> None:
        """The source ends the epoch; there is no length."""
        iterator = self._counting(num_batches=3, size=-1)
        expect(ArgumentTypeError, lambda: len(iterator))
        assert len(list(iterator)) == 3
        expect(StopIteration, lambda: next(iterator))

    @_with_any_epochs
    def test_resumes_from_a_state(self, tmp_path: Path) -> None:
        """Loaded at any step, a state gives the batches that were to come.

        States are plain data: JSON holds them. `restart` gives the batches of the epoch again.
        """
        iterator = self._reading(tmp_path, FILL, num_shards=2, random_shuffle=True)
        states: list[str] = []
        given: list[list[list[list[int]]]] = []
        for _ in range(2):
            states.append(json.dumps(iterator.state_dict()))
            given.append([])
            for batch in iterator:
                given[-1].append(self._labels(batch))
                states.append(json.dumps(iterator.state_dict()))
        # The state after an epoch, and that at the beginning of the next, give the next epoch.
        expected = [epoch[start:] for epoch in given for start in range(len(epoch) + 1)]
        expected[len(given[0])] = given[1]
        for state, rest in zip(states[:-1], expected[:-1], strict=True):
            resumed = self._reading(tmp_path, FILL, num_shards=2, random_shuffle=True)
            resumed.load_state_dict(json.loads(state))
            assert [self._labels(batch) for batch in resumed] == rest
        resumed.load_state_dict(json.loads(states[-2]))
        resumed.restart()
        assert [self._labels(batch) for batch in resumed] == given[1]

    @_with_any_epochs
    def test_resumes_from_checkpoints(self, tmp_path: Path) -> None:
        """An iterator over pipelines with the checkpoints of another one continues from there."""
        iterator = self._reading(tmp_path, FILL, num_shards=2)
        next(iterator)
        checkpoints = iterator.checkpoints()
        assert len(checkpoints) == 2
        resumed = self._reading(tmp_path, FILL, num_shards=2, checkpoints=checkpoints)
        assert [self._labels(batch) for batch in resumed] == [
            self._labels(next(iterator)) for _ in range(len(iterator) - 1)
        ]

    def test_ragged_outputs(self) -> None:
        """They need a list; asking for a dense array names the output and the shapes."""

        def ragged() -> Iterator[list[numpy.ndarray[Any, Any]]]:
            for number in range(2):
                yield [numpy.full(3, number, numpy.int32), numpy.full(1, number, numpy.int32)]

        iterator = self.adapter.iterator(
            self._pipeline(ragged, 2),
            ["boxes"],
            size=3,
            last_batch_policy=PARTIAL,
            output_types=["list"],
        )
        given = [self.shards(batch)[0]["boxes"] for batch in iterator]
        assert [[self.to_numpy(item).tolist() for item in items] for items in given] == [
            [[0, 0, 0], [0]],
            [[1, 1, 1]],
        ]
        error = expect(
            AdapterError,
            lambda: self.adapter.iterator(self._pipeline(ragged, 2), ["boxes"], size=4),
        )
        for part in ("'boxes'", "(3,)", "(1,)", "output_types"):
            assert part in str(error)

    def test_shapes_may_change(self) -> None:
        """Batches of different shapes follow each other."""

        def growing() -> Iterator[numpy.ndarray[Any, Any]]:
            for extent in range(1, 5):
                yield numpy.full((2, extent), extent, numpy.float32)

        iterator = self.adapter.iterator(self._pipeline(growing, 2), ["data"])
        shapes = [self.to_numpy(self.shards(batch)[0]["data"]).shape for batch in iterator]
        assert shapes == [(2, 1), (2, 2), (2, 3), (2, 4)]

    def test_no_batch_at_all(self, tmp_path: Path) -> None:
        """Dropping the only batch is refused rather than ending at once."""
        expect(PipelineStateError, lambda: self._reading(tmp_path, DROP, num_samples=1))

    # Helpers of the tests

    def _counting(self, num_batches: int, **options: Any) -> BaseIterator:
        def source() -> Iterator[numpy.ndarray[Any, Any]]:
            for index in range(num_batches):
                yield numpy.array([[2 * index], [2 * index + 1]], numpy.int64)

        options.setdefault("size", 2 * num_batches)
        return self.adapter.iterator(self._pipeline(source, 2), ["number"], **options)

    def _reading(
        self,
        folder: Path,
        policy: LastBatchPolicy,
        num_samples: int = 7,
        num_shards: int = 1,
        auto_reset: bool = True,
        checkpoints: Sequence[bytes] | None = None,
        **reader: Any,
    ) -> BaseIterator:
        pipelines = []
        for shard in range(num_shards):
            checkpoint = checkpoints[shard] if checkpoints else None
            pipeline = Pipeline(
                batch_size=2, num_threads=1, device_id=self._device_id, checkpoint=checkpoint
            )
            files = [str(folder / f"{index}.bin") for index in range(num_samples)]
            for file in files:
                Path(file).write_bytes(b"content")
            with pipeline:
                _, labels = fn.readers.file(
                    files=files,
                    labels=list(range(num_samples)),
                    num_shards=num_shards,
                    shard_id=shard,
                    name="reader",
                    **reader,
                )
                pipeline.set_outputs(self._placed(labels))
            pipelines.append(pipeline)
        return self.adapter.iterator(
            pipelines,
            ["label"],
            reader_name="reader",
            auto_reset=auto_reset,
            last_batch_policy=policy,
        )

    def _labels(self, batch: Any) -> list[list[int]]:
        return [self.to_numpy(shard["label"]).ravel().tolist() for shard in self.shards(batch)]

    def _pipeline(self, source: Callable[[], Iterator[Any]], batch_size: int) -> Pipeline:
        pipeline = Pipeline(batch_size=batch_size, num_threads=1, device_id=self._device_id)
        with pipeline:
            pipeline.set_outputs(self._placed(fn.external_source(source=source, batch=True)))
        return pipeline

    def _placed(self, value: Any) -> Any:
        return value if self._device_id is None else value.gpu()

    def _run_once(self, data: Any) -> tuple[Any, ...]:
        """Return a batch that the adapter may use, as it is from an iterator."""

        def source() -> Iterator[Any]:
            yield data

        pipeline = self._pipeline(source, len(data))
        stream = None if self._device_id is None else self.adapter.stream(self._device_id)
        outputs = pipeline.run(stream)
        for batch in outputs:
            if isinstance(batch, TensorListGPU):
                batch.synchronize()
        return outputs


class DeviceAdapterSuite(AdapterSuite):
    """Further conformance tests of adapters of frameworks that use GPUs, with batches there."""

    _device_id = 0

    def setup_method(self) -> None:
        """Skip the test if there is no GPU."""
        if not cuda.is_available():
            raise unittest.SkipTest("not available: a GPU")

    def to_numpy(self, array: Any) -> numpy.ndarray[Any, Any]:
        """Return an array of the framework as a NumPy array, which is a copy."""
        return numpy.asarray(TensorGPU(array, device_id=self._device_id).as_cpu())

    def address(self, array: Any) -> int:
        """Return the address of the first element of an array of the framework."""
        return TensorGPU(array, device_id=self._device_id).data_ptr()
