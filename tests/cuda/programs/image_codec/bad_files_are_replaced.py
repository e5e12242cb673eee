"""Bad files are replaced."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.image_codec.bad_files import calls
from tests.cuda.programs.image_codec.files import compare, results

options = {"on_sample_error": "replace", "max_bad_samples": 100}
for make in calls:
    if make is not fn.decoders.image_random_crop:
        compare(make, **options)
    else:  # which draws another window of the image that takes the place
        found = results(make, "mixed", **options)
        for number, expected in enumerate(results(make, "cpu", **options)):
            if number % 8 not in (1, 3):
                assert np.abs(found[number].astype(int) - expected).mean() < 1
