"""Host and device."""

import numpy as np

from dali_core import Pipeline, fn


def fed(data, layout):
    return fn.external_source(source=lambda: data, layout=layout)


def outputs(function, inputs, layout, device):
    size = len(inputs[0])
    pipeline = Pipeline(batch_size=size, num_threads=2, device_id=0, seed=3)
    with pipeline:
        values = [fed(data, layout) for data in inputs]
        values = [value.gpu() for value in values] if device == "gpu" else values
        made = function(*values)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        assert {value.device for value in made} == {device}
        pipeline.set_outputs(*(value.cpu() for value in made))
    batches = pipeline.run()
    return [([np.array(batch.at(i)) for i in range(size)], batch.layout()) for batch in batches]


def compare(function, inputs, layout=None):
    found, expected = (outputs(function, inputs, layout, device) for device in ("gpu", "cpu"))
    for (ours, our_layout), (theirs, their_layout) in zip(found, expected, strict=True):
        assert our_layout == their_layout
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
    return [samples for samples, _ in found]


def made(shapes, dtype="uint8"):
    random = np.random.default_rng(1)
    return [random.integers(0, 250, shape).astype(dtype) for shape in shapes]
