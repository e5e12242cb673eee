"""Custom iterators, derived from those of the library."""

import math

import numpy as np
import torch

import nvidia.dali.fn as fn
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.base_iterator import LastBatchPolicy, _DaliBaseIterator
from nvidia.dali.plugin.pytorch import DALIGenericIterator


def make_pipeline(num_batches, first):
    pipe = Pipeline(3, 1, None)
    with pipe:
        batches = [np.arange(3 * i, 3 * i + 3).reshape(3, 1) + first for i in range(num_batches)]
        pipe.set_outputs(fn.external_source(source=batches, cycle="quiet"))
    return pipe


class NumPyIterator(_DaliBaseIterator):
    """Batches as NumPy arrays, as in third-party adapters."""

    def __init__(self, pipelines, output_map, size=-1, **options):
        self.output_map = output_map
        super().__init__(pipelines, size, **options)
        self._first_batch = None
        if self._prepare_first_batch:
            self._first_batch = NumPyIterator.__next__(self)

    def __next__(self):
        if self._first_batch is not None:
            batch = self._first_batch
            self._first_batch = None
            return batch
        outputs = self._get_outputs()
        batches = [
            {name: np.array(out.as_tensor()) for name, out in zip(self.output_map, parts)}
            for parts in outputs
        ]
        self._schedule_runs()
        self._advance_and_check_drop_last()
        if self._last_batch_policy is LastBatchPolicy.PARTIAL and self._counter > self._size:
            left = self._num_gpus * self.batch_size - (self._counter - self._size)
            full = math.ceil(left / self.batch_size)
            batches = batches[:full]
            for name in self.output_map:
                rest = left - (full - 1) * self.batch_size
                batches[-1][name] = batches[-1][name][:rest]
        return batches


class Flattened(DALIGenericIterator):
    """One tensor per batch, without names."""

    def __len__(self):
        return math.ceil(self._size / (self._num_gpus * self.batch_size))

    def __next__(self):
        return torch.cat([part[name] for part in super().__next__() for name in self.output_map])


def main():
    for policy in LastBatchPolicy:
        pipes = [make_pipeline(9, 0), make_pipeline(9, 100)]
        loader = NumPyIterator(pipes, ["x"], 10, last_batch_policy=policy, auto_reset=True)
        for epoch in range(3):
            for batch in loader:
                values = [part["x"].ravel().tolist() for part in batch]
                print("numpy", policy.name, epoch, values, loader._counter)
        flat = Flattened(make_pipeline(9, 7), ["x"], size=8, last_batch_policy=policy)
        print("length", len(flat), flat._size)
        for epoch in range(2):
            for batch in flat:
                print("flat", policy.name, epoch, batch.flatten().tolist())
            flat.reset()


if __name__ == "__main__":
    main()
