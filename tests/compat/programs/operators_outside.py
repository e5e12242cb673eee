"""Operators called outside of pipelines: shared constants, nodes as arguments, other pipelines."""

import numpy as np

from nvidia.dali import Pipeline, fn, ops, pipeline_def, types

OPTIONS = {"batch_size": 2, "num_threads": 1, "device_id": None}
MEAN = types.Constant(np.array([1, 2], np.float32))
double = ops.PythonFunction(lambda x: 2 * x)


def numbers(iteration):
    return np.array([[10 * iteration, 1], [10 * iteration + 1, 2]], np.float32)


@pipeline_def(**OPTIONS)
def scaled(values, offset):
    return values * 2 + offset, values


@pipeline_def(enable_conditionals=True, **OPTIONS)
def chosen(condition):
    number = fn.constant(idata=1)
    if condition:
        number = fn.constant(idata=5)
    return number


class Derived(Pipeline):
    def __init__(self):
        super().__init__(**OPTIONS)
        self.values = fn.external_source(source=numbers)

    def define_graph(self):
        return self.values - MEAN, double(self.values)


def show(name, pipe, count=2):
    pipe.build()
    for number in range(count):
        for output in pipe.run():
            print(name, number, *output.as_array().ravel())


def main():
    pipe = Pipeline(2, 1, None)
    pipe.set_outputs(fn.constant(idata=1))
    show("constant", pipe)

    for _ in range(2):
        show("argument", scaled(fn.external_source(source=numbers), MEAN))
    show("chosen", chosen(fn.external_source(source=lambda: np.array([True, False]))))
    show("derived", Derived())

    other = Pipeline(**OPTIONS)
    with other:
        values = fn.external_source(source=numbers)
        other.set_outputs(values + 1)
    pipe = Pipeline(**OPTIONS)
    pipe.set_outputs(fn.cat(values, MEAN, axis=0), values)
    show("never built", pipe)

    fed = fn.external_source(name="fed")
    pipe = Pipeline(prefetch_queue_depth=1, **OPTIONS)
    pipe.set_outputs(fed + 1)
    pipe.build()
    pipe.feed_input("fed", numbers(3))
    print("fed", *pipe.run()[0].as_array().ravel())


if __name__ == "__main__":
    main()
