"""Samples on a device."""

import gc

import numpy as np

from tests.cuda import small_pipeline
from tests.cuda.simulated_driver import control

pipeline = small_pipeline.make()
expected = [small_pipeline.expected(number) for number in range(2)]
before = small_pipeline.arrays(pipeline.run())
gc.collect()
live = control.live()["allocations"]
for index in (0, 5):
    sample = pipeline.run_sample(index)
    assert sample.error is None, sample.error
    assert {step.device for step in sample.values()} == {"cpu", "gpu"}
    for output, batch in zip(sample.outputs, expected[index // 4], strict=True):
        wanted = batch[index % 4]
        assert output.dtype == wanted.dtype
        assert np.array_equal(output, wanted)
    (flipped,) = [step for step in sample.values() if step.operator == "fn.flip"]
    assert flipped.device == "gpu"
    assert flipped.arrays[0].shape == sample.outputs[2].shape
assert "on the GPU" in pipeline.show(1)._repr_html_()
del sample, flipped
gc.collect()
assert control.live()["allocations"] == live, "the device must have its memory back"
assert small_pipeline.is_right(pipeline.run(), 1)
pipeline.close()
print("done")
