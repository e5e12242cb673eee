"""Errors equal the host."""

from dali_core import fn
from dali_core.errors import DaliCoreError
from tests.cuda.programs.host_and_device import made, outputs

for arguments, message in (
    ({"batch": True, "axes": [0]}, "must have the same extents in the whole batch"),
    ({"axes": [2]}, "axes must be from -2 to 1"),
    ({"axis_names": "X"}, "axis_names must be letters"),
):
    for device in ("cpu", "gpu"):
        try:
            outputs(lambda x: fn.normalize(x, **arguments), [made([(2, 3), (2, 4)])], "HW", device)
        except DaliCoreError as error:
            assert message in str(error), error
        else:
            raise AssertionError("nothing was raised")
