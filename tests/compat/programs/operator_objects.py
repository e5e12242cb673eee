"""Operators as objects: positional arguments, omitted ones as None, nodes as arguments; seeds."""

import warnings

import numpy as np

from nvidia.dali import fn, ops, pipeline_def, types

OPTIONS = {"batch_size": 2, "num_threads": 1, "device_id": None}


def images(iteration):
    return np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3) + iteration


class Augmentation:
    """Creates its operators once, like class-based programs."""

    def __init__(self, angle=None, dtype=None, seed=None):
        self.source = ops.ExternalSource(images, layout="HWC")
        self.rotate = ops.Rotate(angle=angle, interp_type=types.INTERP_NN, size=None)
        self.cast = ops.Cast(dtype=dtype, seed=seed)
        self.add = ops.PythonFunction(lambda x: x + 1)
        self.split = ops.PythonFunction(lambda x: (x[..., 0], x[..., 1:]), 2)

    def __call__(self):
        turned = self.rotate(self.source(), fill_value=None)
        one, two = self.split(self.add(self.cast(turned, name=None)))
        return turned, one, two


@pipeline_def(**OPTIONS)
def augmented(augmentation):
    return augmentation()


@pipeline_def(**OPTIONS)
def chosen():
    image = fn.external_source(images, layout="HWC")
    kinds = [types.INTERP_NN, types.INTERP_NN]
    return fn.resize(image, size=[3, 4], interp_type=fn.random.choice(kinds))


@pipeline_def(**OPTIONS)
def decided():
    number = fn.external_source(lambda: np.array([3, -4]))
    if number < 0:
        number = -number
    return number


def show(name, pipe):
    pipe.build()
    for output in pipe.run():
        print(name, *output.shape(), output.layout() or "-", output.as_array().ravel().tolist())


def main():
    angle = fn.constant(fdata=[90.0], shape=[])
    for dtype in (types.INT32, types.FLOAT):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            augmentation = Augmentation(angle, dtype, seed=7)
            print("seed", [warning.category.__name__ for warning in caught])
            show("augmented", augmented(augmentation))
    show("chosen", chosen())
    show("decided", decided(enable_conditionals=True))


if __name__ == "__main__":
    main()
