"""Fork after device use."""

import gc
import os
import sys

from dali_core import cuda
from dali_core.errors import DaliCoreError
from tests.cuda.small_pipeline import is_right, make

pipeline = make()
batch = pipeline.run()
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    said = []
    for attempt in (
        pipeline.run,
        lambda: make().run(),
        batch[0].as_cpu,
        cuda.device_count,
        lambda: cuda.Stream(0),
    ):
        try:
            attempt()
        except DaliCoreError as error:
            said.append(type(error).__name__)
        else:
            said.append("nothing")
    del batch, pipeline
    gc.collect()
    os.write(writing, " ".join(said).encode())
    sys.exit(0)
os.close(writing)
with open(reading) as pipe:
    said = pipe.read().split()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said
assert len(said) == 5 and "nothing" not in said[:3] + said[4:], said
assert is_right(batch, 0)
assert is_right(pipeline.run(), 1)
