"""Epochs of iterators over sources in Python: of unknown, truncated and different lengths."""

import logging

import numpy as np

import nvidia.dali.fn as fn
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy


def make_pipeline(lengths, first=0, cycle=None, **options):
    pipe = Pipeline(2, 1, None, **options)
    with pipe:
        batches = [
            np.arange(10 * i, 10 * i + length, dtype=np.int32).reshape(-1, 1) + first
            for i, length in enumerate(lengths)
        ]
        source = Numbered(batches) if cycle is None else batches
        pipe.set_outputs(fn.external_source(source=source, cycle=cycle))
    return pipe


class Numbered:
    def __init__(self, batches):
        self.batches = batches

    def __call__(self, number):
        if number >= len(self.batches):
            raise StopIteration
        return self.batches[number]


def values(batch):
    return [part["x"].ravel().tolist() for part in batch]


def unknown_size():
    loader = DALIGenericIterator(make_pipeline([2, 2, 1]), ["x"], auto_reset=True)
    # A trainer that uses the length skips the epoch.
    print("length", len(loader), loader.size, loader._size)
    for epoch in range(2):
        print("unknown", epoch, [values(batch) for batch in loader])


def short_last_batch():
    for policy in LastBatchPolicy:
        pipe = make_pipeline([2, 2, 1], cycle="raise")
        loader = DALIGenericIterator(pipe, ["x"], size=5, last_batch_policy=policy)
        try:
            for batch in loader:
                print("short", policy.name, values(batch))
        except AssertionError:
            print("short", policy.name, "refused")


def twice_before_the_first_batch():
    loader = DALIGenericIterator(make_pipeline([2, 2, 2]), ["x"], size=6)
    iterator = iter(iter(loader))
    print("first", values(next(iterator)), len(loader))
    print("rest", [values(batch) for batch in iterator])
    print("next", [values(batch) for batch in iterator])


def out_of_step():
    pipes = [make_pipeline([2] * 4), make_pipeline([2] * 2, first=100)]
    loader = DALIGenericIterator(pipes, ["x"], size=16)
    for attempt in range(3):
        print("disagreeing", attempt, [values(batch) for batch in loader], len(loader))


def end_of_epoch():
    for auto_reset in (False, True):
        for prepare in (False, True):
            options = {"auto_reset": auto_reset, "prepare_first_batch": prepare}
            pipe = make_pipeline([2, 2, 2], enable_checkpointing=True)
            loader = DALIGenericIterator(pipe, ["x"], size=6, **options)
            for _ in range(len(loader)):
                next(loader)
            (checkpoint,) = loader.checkpoints()
            pipe = make_pipeline([2, 2, 2], enable_checkpointing=True, checkpoint=checkpoint)
            resumed = DALIGenericIterator(pipe, ["x"], size=6, **options)
            for epoch in range(3):
                print("resumed", auto_reset, prepare, epoch, [values(batch) for batch in resumed])


def main():
    logging.disable(logging.WARNING)
    unknown_size()
    short_last_batch()
    twice_before_the_first_batch()
    out_of_step()
    end_of_epoch()


if __name__ == "__main__":
    main()
