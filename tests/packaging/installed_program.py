"""A program for an installed library without any framework or cuda-bindings."""

import sys

import dali_core.cuda
from dali_core import fn, pipeline_def


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=1)
def pipeline():
    return fn.random.uniform(range=[0, 1])


(batch,) = pipeline().run()
assert batch.as_array().shape == (3,), batch
assert "torch" not in sys.modules
assert not dali_core.cuda.is_available()  # without cuda-bindings
print(dali_core.__file__)
