"""Draws numbers in spawned processes, which import this program again."""

import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def
from nvidia.dali.types import SampleInfo


class Squares:
    """Returns the squares of the numbers below a limit."""

    def __init__(self, limit):
        self.limit = limit

    def __call__(self, info):
        assert isinstance(info, SampleInfo)
        if info.idx_in_epoch >= self.limit:
            raise StopIteration
        return np.int64([info.idx_in_epoch**2, info.epoch_idx])


@pipeline_def(batch_size=3, num_threads=1, device_id=None, py_num_workers=2)
def squares():
    return fn.external_source(Squares(9), batch=False, parallel=True)


def main():
    pipeline = squares(py_start_method="spawn")
    pipeline.build()
    for _ in range(2):
        while True:
            try:
                (batch,) = pipeline.run()
            except StopIteration:
                print("the epoch has ended, and the next one begins")
                pipeline.reset()
                break
            print("batch", *np.array(batch.as_array()).ravel())


if __name__ == "__main__":
    main()
