"""Data and functions in Python: sources of all kinds, with worker processes, and tuples."""

import numpy as np

from nvidia.dali import fn, math, pipeline_def, types

NUM_SAMPLES = 10


class Table:
    """Random access to samples of different lengths."""

    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return np.arange(index + 1, dtype=np.float32), np.int64([index * index])


class FromTable:
    def __init__(self, table, seed):
        self.table = table
        self.seed = seed

    def __call__(self, sample_info):
        index = sample_info.idx_in_epoch
        if index >= len(self.table):
            raise StopIteration
        order = np.random.default_rng(self.seed + sample_info.epoch_idx)
        return self.table[int(order.permutation(len(self.table))[index])]


def batches(iteration):
    if iteration >= 3:
        raise StopIteration
    return [np.full((2, 2), 10 * iteration + i, np.uint8) for i in range(3)]


def lines():
    for number in range(3):
        yield [np.frombuffer(f"line {number}.{i}".encode(), np.uint8) for i in range(3)]


def weighted(array):
    return array * np.float32(0.5) + np.float32(1)


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=3)
def from_table(parallel):
    values, squares = fn.external_source(
        FromTable(Table(NUM_SAMPLES), 7), num_outputs=2, batch=False, parallel=parallel
    )
    padded = fn.pad(values, fill_value=-1)
    lengths = fn.shapes(values)
    halves = fn.python_function(values, function=weighted)
    return padded, squares, lengths, fn.reductions.sum(halves)


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def from_batches():
    numbers = fn.external_source(batches, dtype=types.UINT8, ndim=2)
    text = fn.external_source(lines, cycle="raise")
    return fn.cast(numbers, dtype=types.INT32), text


@pipeline_def(batch_size=3, num_threads=2, device_id=None, enable_conditionals=True)
def decided():
    values, square = fn.external_source(FromTable(Table(6), 9), num_outputs=2, batch=False)
    number = square[0]
    scaled = (values + 1) * 2 - math.sqrt(values)
    if number >= 9 and not number == 16:
        result = fn.reductions.sum(scaled) + types.Constant(np.float32(0.5))
    elif number > 1:
        result = fn.reductions.sum(values[1:])
    else:
        result = fn.reductions.sum(values) - 1
    return square, result, number // 2, fn.cast(number % 5 == 1, dtype=types.UINT8)


def main():
    for parallel in (False, True):
        pipe = from_table(parallel, py_num_workers=2, py_start_method="fork")
        pipe.build()
        for epoch in range(2):
            try:
                while True:
                    padded, squares, lengths, sums = pipe.run()
                    print(
                        "table",
                        epoch,
                        *squares.as_array().ravel(),
                        *padded.as_array().sum(axis=1),
                        *lengths.as_array().ravel(),
                        *(f"{float(np.array(sums.at(i))):.4f}" for i in range(len(sums))),
                    )
            except StopIteration:
                pipe.reset()
    pipe = from_batches(prefetch_queue_depth=1)
    pipe.build()
    for epoch in range(2):
        try:
            while True:
                numbers, text = pipe.run()
                line = bytes(np.array(text.at(2))).decode()
                print("batches", epoch, *numbers.as_array()[:, 0, 0], repr(line))
        except StopIteration:
            pipe.reset()
    pipe = decided(py_num_workers=1)
    pipe.build()
    for _ in range(2):
        square, result, half, is_one = (output.as_array() for output in pipe.run())
        print("decided", *square.ravel(), *(f"{x:.4f}" for x in result), *half, *is_one)


if __name__ == "__main__":
    main()
