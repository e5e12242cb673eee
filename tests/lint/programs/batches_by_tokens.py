"""Batches by the lengths of samples, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import numpy

from dali_core import DataNode, Loader, Pipeline, fn, pipeline_def
from dali_core.batching import Budget, Pack, Planned

lengths = numpy.arange(1, 51)


class Sequences:
    """Sequences of several lengths."""

    def __len__(self) -> int:
        return len(lengths)

    def __getitem__(self, index: int) -> numpy.ndarray:
        return numpy.full(lengths[index], index)


@pipeline_def(num_threads=1, device_id=None, batching=Budget(100), lengths=lengths)
def sequences() -> DataNode:
    return fn.readers.python(Sequences(), random_shuffle=True, name="reader")


pipeline: Pipeline = sequences()
pipeline.build()
(batch,) = pipeline.run()
sizes = [len(numpy.asarray(sequence)) for sequence in batch]
assert max(sizes) * len(sizes) <= 100
assert isinstance(pipeline.batching, Planned)
pipeline.close()

with Loader(sequences(), output_types=["list"]) as loader:
    for (arrays,) in loader:
        step = loader.step
        assert step is not None
        assert (step.num_samples, step.num_tokens) == (len(arrays), sum(map(len, arrays)))
        assert step.global_tokens == step.num_tokens

rows = sequences(batching=Pack(100).windows(64, rows=2))
rows.build()
assert sum(len(numpy.asarray(sequence)) for sequence in rows.run()[0]) <= 200
rows.close()
