"""Devices."""

from dali_core import cuda, errors
from dali_core._cuda import driver
from tests.cuda.simulated_driver import control

assert cuda.is_available()
assert cuda.device_count() == 2
assert cuda.device_name(1)
assert driver.compute_capability(0) == (8, 6)
# Asking costs nothing on the device.
assert control.live()["primary_context_retains"] == 0
for number in (-1, 2):
    try:
        cuda.Stream(number)
    except errors.CudaUnavailableError as error:
        assert f"device_id must be from 0 to 1, since this process sees 2 (got {number})" in str(
            error
        ), error
    else:
        raise AssertionError
