"""Iterators for JAX, compared with the reference's on one CPU device, which it can use.

Where this library differs on purpose:

* An iterator whose names are fewer than the outputs of its pipelines is rejected.
* Arrays that change their shape, partial batches and the like raise errors of this library, which
  also derive from ValueError or RuntimeError; the reference often raises AssertionError.
* A batch that was only peeked at does not count in checkpoints; the reference rejects them then.
* The global batch is divided among the devices that are used, not among all devices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import dali_core
import dali_core.fn

jax = pytest.importorskip("jax", reason="not available: JAX")
nvidia_dali = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
reference_plugin = pytest.importorskip(
    "nvidia.dali.plugin.jax", reason="not available: NVIDIA DALI"
)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what CLU imports
    reference_clu = pytest.importorskip("nvidia.dali.plugin.jax.clu", reason="CLU is missing")

from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402
from nvidia.dali.plugin.base_iterator import LastBatchPolicy as ReferencePolicy  # noqa: E402

from dali_core.plugin import jax as own_plugin  # noqa: E402
from dali_core.plugin.base_iterator import LastBatchPolicy  # noqa: E402
from dali_core.plugin.jax import clu as own_clu  # noqa: E402

DTYPES = ("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
LIBRARIES = (
    (dali_core, own_plugin, own_clu, LastBatchPolicy),
    (nvidia_dali, reference_plugin, reference_clu, ReferencePolicy),
)

# The reference warns of some of what is compared.
pytestmark = pytest.mark.filterwarnings("ignore::Warning")


class Library:
    """One of the two implementations, with the same interface."""

    def __init__(self, folder: Path, core: Any, plugin: Any, clu: Any, policies: Any) -> None:
        self.core, self.plugin, self.clu, self.policies = core, plugin, clu, policies
        self._files = [str(folder / f"{index}.bin") for index in range(14)]
        for file in self._files:
            Path(file).write_bytes(b"content")

    def read(self, num_samples: int, shard_id: int, num_shards: int, pad: bool) -> Any:
        _, label = self.core.fn.readers.file(
            files=self._files[:num_samples],
            labels=list(range(num_samples)),
            shard_id=shard_id,
            num_shards=num_shards,
            pad_last_batch=pad,
            name="reader",
        )
        return label, self.core.fn.cast(label, dtype=self.core.types.FLOAT)

    def pipelines(self, num_samples: int, num_shards: int, pad: bool, **options: Any) -> list[Any]:
        made = []
        for shard in range(num_shards):
            pipeline = self.core.Pipeline(3, 1, None, **options)
            with pipeline:
                pipeline.set_outputs(*self.read(num_samples, shard, num_shards, pad))
            made.append(pipeline)
        return made

    def source(self, data: Any) -> Any:
        pipeline = self.core.Pipeline(len(data), 1, None)
        with pipeline:
            pipeline.set_outputs(self.core.fn.external_source(source=[data], cycle="quiet"))
        return pipeline


@pytest.fixture
def both(tmp_path: Path) -> Callable[[Callable[[Library], Any]], Any]:
    """Return a function that returns the result of an action, after comparing both."""
    own, reference = (Library(tmp_path, *library) for library in LIBRARIES)

    def compare(action: Callable[[Library], Any]) -> Any:
        result = action(own)
        assert result == action(reference)
        return result

    return compare


def described(batch: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (str(array.dtype), array.sharding, numpy.asarray(array).tolist())
        for name, array in batch.items()
    }


@pytest.mark.parametrize("num_shards", [1, 2])
@pytest.mark.parametrize("policy", ["FILL", "DROP"])
@pytest.mark.parametrize("pad", [False, True])
def test_epochs(both: Any, num_shards: int, policy: str, pad: bool) -> None:
    def epochs(library: Library) -> list[Any]:
        iterator = library.plugin.DALIGenericIterator(
            library.pipelines(13, num_shards, pad),
            ["label", "number"],
            reader_name="reader",
            last_batch_policy=library.policies[policy],
            auto_reset=True,
        )
        return [
            (len(iterator), iterator.size, [described(batch) for batch in iterator])
            for _ in range(4)
        ]

    assert len(both(epochs)) == 4


@pytest.mark.parametrize("options", [{}, {"pmap_compatible": True}, {"pmap_compatible": False}])
@pytest.mark.parametrize("num_shards", [1, 2])
def test_structure(both: Any, options: dict[str, Any], num_shards: int) -> None:
    def first(library: Library) -> Any:
        iterator = library.plugin.DALIGenericIterator(
            library.pipelines(13, num_shards, False), ["a", "b"], reader_name="reader", **options
        )
        return described(next(iterator))

    assert list(both(first)) == ["a", "b"]


@pytest.mark.parametrize("spec", [PartitionSpec("batch"), PartitionSpec()])
@pytest.mark.parametrize("pmap_compatible", [None, True])
def test_sharding_on_one_device(both: Any, spec: Any, pmap_compatible: bool | None) -> None:
    sharding = NamedSharding(Mesh(jax.devices()[:1], ("batch",)), spec)
    batch = both(
        lambda library: described(
            next(
                library.plugin.DALIGenericIterator(
                    library.pipelines(13, 1, False),
                    ["a", "b"],
                    reader_name="reader",
                    sharding=sharding,
                    pmap_compatible=pmap_compatible,
                )
            )
        )
    )
    assert batch["a"][1] == sharding


@pytest.mark.parametrize("dtype", [*DTYPES, "float16", "float32", "float64"])
def test_dtypes(both: Any, dtype: str) -> None:
    data = [numpy.array([1, 0], dtype), numpy.array([0, 1], dtype)]
    both(
        lambda library: described(
            next(library.plugin.DALIGenericIterator([library.source(data)], ["x"]))
        )
    )


def test_partial_batches_raise(both: Any) -> None:
    def refuses(library: Library) -> bool:
        with pytest.raises(Exception, match="(?i)policy"):
            library.plugin.DALIGenericIterator(
                library.pipelines(13, 1, False),
                ["a", "b"],
                reader_name="reader",
                last_batch_policy=library.policies.PARTIAL,
            )
        return True

    both(refuses)


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("num_shards", [1, 2])
def test_padding(both: Any, pad: bool, num_shards: int) -> None:
    def masks(library: Library) -> list[Any]:
        iterator = library.clu.DALIGenericPeekableIterator(
            library.pipelines(7 * num_shards, num_shards, pad), ["a", "b"], reader_name="reader"
        )
        return [numpy.asarray(iterator.is_nonpadding).tolist() for _ in iterator]

    assert both(masks)[-1].count(True) == num_shards


def test_peeking(both: Any) -> None:
    def walk(library: Library) -> list[Any]:
        iterator = library.clu.DALIGenericPeekableIterator(
            library.pipelines(7, 1, False), ["a", "b"], reader_name="reader"
        )
        spec = {name: (numpy.dtype(s.dtype), s.shape) for name, s in iterator.element_spec.items()}
        actions = {
            "peek": iterator.peek,
            "next": iterator.next,
            "async": lambda: iterator.peek_async().result(),
            "reset": iterator.reset,
        }
        found: list[Any] = [spec]
        for name in (
            *("peek", "peek", "next", "next", "async", "next", "peek", "next"),
            *("reset", "peek", "next", "next", "next", "peek"),
        ):
            try:
                batch = actions[name]()
            except StopIteration:
                found.append((name, "end"))
            else:
                found.append((name, batch and described(batch)))
        return found

    assert len(both(walk)) == 15


@pytest.mark.parametrize("kind", ["data_iterator", "peekable_data_iterator"])
@pytest.mark.parametrize("devices", [None, 1])
def test_decorators(both: Any, kind: str, devices: int | None) -> None:
    told = []

    def first(library: Library) -> Any:
        where = library.plugin if kind == "data_iterator" else library.clu

        @getattr(where, kind)(
            output_map=["a", "b"],
            reader_name="reader",
            devices=devices and jax.devices()[:devices],
        )
        def numbers(device_id: int, shard_id: int = 0, num_shards: int = 1) -> Any:
            told.append((device_id, shard_id, num_shards))
            return library.read(13, shard_id, num_shards, False)

        return described(next(numbers(batch_size=4 * jax.device_count(), num_threads=1)))

    both(first)
    assert told[0] == told[1]


def test_checkpoints(both: Any) -> None:
    def resumed(library: Library) -> list[Any]:
        @library.plugin.data_iterator(output_map=["a", "b"], reader_name="reader", auto_reset=True)
        def numbers(device_id: int) -> Any:
            return library.read(13, 0, 1, False)

        options = {"batch_size": 4, "num_threads": 1, "enable_checkpointing": True}
        iterator = numbers(**options)
        for _ in range(2):
            next(iterator)
        checkpoints = iterator.checkpoints()
        assert [type(checkpoint) for checkpoint in checkpoints] == [bytes]
        again = numbers(**options, checkpoints=checkpoints)
        return [*(described(batch) for batch in again), *(described(batch) for batch in again)]

    assert len(both(resumed)) == 2 + 3
