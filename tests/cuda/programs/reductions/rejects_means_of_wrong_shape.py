"""Rejects means of wrong shape."""

import numpy as np

from dali_core.errors import DaliCoreError
from tests.cuda.programs.host_and_device import outputs
from tests.cuda.programs.reductions.statistics import R
from tests.operators.suite import numbers

image = numbers("uint8", (4, 5, 3), 1)
for device in ("cpu", "gpu"):
    for function, message in (
        (lambda x, m: R.std_dev(x, m, axes=[0]), "must be one number, or one for each of the 15"),
        (lambda x, m: R.sum(x, axes=[3]), "axes must be from -3 to 2"),
        (lambda x, m: R.max(x, axis_names="X"), "axis_names must be in the input's layout"),
    ):
        try:
            outputs(function, [[image], [np.float32([1, 2])]], None, device)
        except DaliCoreError as error:
            assert message in str(error), error
        else:
            raise AssertionError("nothing was raised")
