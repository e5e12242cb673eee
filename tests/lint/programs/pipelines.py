"""Pipelines in both styles, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from dali_core import DataNode, Pipeline, fn, ops, pipeline_def, types
from dali_core.errors import BadSample
from dali_core.tensors import TensorListCPU

folder = Path(tempfile.mkdtemp())
for number in range(6):
    (folder / str(number % 2)).mkdir(exist_ok=True)
    (folder / str(number % 2) / f"{number}.jpg").write_bytes(bytes([number]) * 10)


def rows() -> Iterator[list[NDArray[numpy.float32]]]:
    """Yield batches forever."""
    while True:
        yield [numpy.ones(3, numpy.float32)] * 2


# A function.


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=7, prefetch_queue_depth=1)
def read(root: Path, factor: float = 2.0) -> tuple[DataNode, ...]:
    """Read files and generate numbers."""
    files, labels = fn.readers.file(file_root=root, name="reader", random_shuffle=True)
    numbers = fn.external_source(rows, layout="X")
    return (
        files,
        labels,
        fn.cast(numbers, dtype=types.FLOAT64),
        fn.random.uniform(range=(0, factor)),
    )


@pipeline_def
def plain() -> DataNode:
    """Yield the same number forever."""
    return fn.constant(fdata=[1.5])


pipeline: Pipeline = read(folder, factor=3.0)
pipeline.build()
outputs: tuple[TensorListCPU, ...] = pipeline.run()
names: list[str] = [sample.source_info() for sample in outputs[0]]
size: int | dict[str, int] = pipeline.epoch_size("reader")
meta: Mapping[str, int] = pipeline.reader_meta("reader")
text: str = pipeline.plan()
bad: list[BadSample] = pipeline.bad_samples
assert len(names) == 2
assert (size, meta["epoch_size"], bad) == (6, 6, [])
assert (pipeline.batch_size, pipeline.max_batch_size, pipeline.num_threads) == (2, 2, 2)
assert (pipeline.device_id, pipeline.seed, pipeline.num_outputs) == (None, 7, 4)
assert (pipeline.exec_pipelined, pipeline.exec_async) == (True, True)
depth: int | Mapping[str, int] = pipeline.prefetch_queue_depth
pipeline.save_graph_to_dot_file(str(folder / "graph.dot"))
pipeline.save_graph_to_svg_file(folder / "graph.svg")
assert depth == 1
assert "readers.file" in text
print(repr(pipeline))

state: dict[str, Any] = pipeline.state_dict()
assert pipeline.states.describe(pipeline.states.current()) == state
expected = pipeline.run()[1].as_array()
again = read(folder, factor=3.0)
again.load_state_dict(state)
numpy.testing.assert_array_equal(again.run()[1].as_array(), expected)
again.restart()
again.close()

kept: bytes = pipeline.checkpoint()
restored: Pipeline = read(folder, factor=3.0, checkpoint=kept, enable_checkpointing=True)
restored.build()
assert restored.is_restored_from_checkpoint
waiting: bool = not pipeline.empty()
pipeline.reset()
pipeline.close()

assert plain(batch_size=3, num_threads=1, device_id=None).run()[0].as_array().shape == (3, 1)


# A class.


class Fed(Pipeline):
    """A pipeline whose input is fed."""

    def __init__(self) -> None:
        super().__init__(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
        self.source = ops.ExternalSource(name="input")
        self.cast = ops.Cast(dtype=types.INT32)
        self.count = 0

    def define_graph(self) -> DataNode:
        """Convert the input."""
        self.fed = self.source()
        result: DataNode = self.cast(self.fed)
        return result

    def iter_setup(self) -> None:
        """Feed the next batch."""
        self.count += 1
        self.feed_input(self.fed, numpy.full((2, 3), self.count, numpy.uint8), layout="X")


fed = Fed()
fed.build()
assert fed.run()[0].as_array().tolist() == [[1] * 3] * 2

shared = Fed()
shared.build()
shared.enable_api_check(True)
shared.schedule_run()
held: tuple[TensorListCPU, ...] = shared.share_outputs()
shared.release_outputs()
shared.schedule_run()
assert shared.outputs()[0].layout() == "X"
assert held[0].at(0).tolist() == [1, 1, 1]

# A block.

built = Pipeline(batch_size=1, num_threads=1, device_id=None)
with built:
    assert Pipeline.current() is built
    built.set_outputs(fn.constant(idata=[3, 4]), fn.constant(idata=[5]))
with built:
    assert [batch.as_array().tolist() for batch in built.run()] == [[[3, 4]], [[5]]]
for one in (fed, shared, built):
    one.close()
