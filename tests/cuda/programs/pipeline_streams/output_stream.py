"""Output stream."""

import numpy as np

from dali_core import fn
from dali_core.cuda import Stream
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.cuda.other_library import new_stream
from tests.cuda.programs.pipeline_streams.pipelines import expected, made, numbered

low, high = (
    made(lambda: numbered(device="gpu"), default_cuda_stream_priority=priority)
    for priority in (0, -1)
)
assert (low.default_cuda_stream_priority, high.default_cuda_stream_priority) == (0, -1)
assert isinstance(low.output_stream(), Stream)
assert high.output_stream().priority < low.output_stream().priority
assert low.run()[0].stream is low.output_stream()
version, handle = low.output_stream().__cuda_stream__()
assert (version, handle) == (0, low.output_stream().handle)

back = made(lambda: [fn.external_source(source=expected).gpu().cpu()])
assert back.output_stream() is None
assert (np.asarray(back.run(new_stream())[0].as_tensor()) == expected(0)).all()

for wrong, error in (("stream", ArgumentTypeError), (new_stream(1), ArgumentValueError)):
    try:
        low.run(wrong)
    except error as caught:
        assert "Stream.wrap: stream must" in str(caught)
    else:
        raise AssertionError(wrong)
# The batch was not lost.
assert (np.asarray(low.run()[0].as_cpu().as_tensor()) == expected(1)).all()
