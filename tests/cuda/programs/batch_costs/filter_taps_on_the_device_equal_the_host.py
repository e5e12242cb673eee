"""Filter taps on the device equal the host."""

import json
import sys

import numpy as np

from dali_core import Pipeline, fn, types
from tests.cuda.programs.batch_costs.ragged_pipelines import SIZE, source

interpolation = json.loads(sys.argv[1])


def both(image, **options):
    options |= {"interp_type": getattr(types, f"INTERP_{interpolation}"), "seed": 5}
    return [
        fn.random_resized_crop(there, size=(19, 31), **options) for there in (image.gpu(), image)
    ]


for dtype in (np.uint8, np.float32):
    for antialias in (False, True):
        pipeline = Pipeline(batch_size=SIZE, num_threads=2, device_id=0, prefetch_queue_depth=1)
        with pipeline:
            image = fn.cast(
                fn.external_source(source=source, layout="HWC"),
                dtype=types.UINT8 if dtype == np.uint8 else types.FLOAT,
            )
            noise = fn.noise.gaussian(image, stddev=40.0, seed=1)
            pipeline.set_outputs(*both(noise, antialias=antialias))
        on_device, on_host = pipeline.run()
        np.testing.assert_array_equal(on_device.as_cpu().as_array(), on_host.as_array())
        pipeline.close()
