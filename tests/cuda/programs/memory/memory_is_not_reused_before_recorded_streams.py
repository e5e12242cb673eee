"""Memory is not reused before recorded streams."""

from dali_core import cuda
from tests.cuda.programs.memory.consumers import default, old, own, slow, what_is_read
from tests.cuda.simulated_driver import control

assert what_is_read(1, [slow]) == [old.raw]
assert what_is_read(2, [slow, own]) == [old.raw, old.raw]
before = sum(control.device_wide().values())
assert what_is_read(1, [slow, cuda.Stream(0)]) == [old.raw, old.raw]
assert sum(control.device_wide().values()) == before
# Per-thread default streams run in step with the default stream.
per_thread = cuda.Stream.wrap(2, 0)
assert what_is_read(1, [default, per_thread]) == [old.raw, old.raw]
