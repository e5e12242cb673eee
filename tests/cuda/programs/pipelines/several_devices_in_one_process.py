"""Several devices in one process."""

from dali_core import fn
from tests.cuda.programs.pipelines.ragged_batches import assert_same, batches, made, ragged

pipelines = [
    made(lambda: fn.external_source(source=batches).gpu(), device_id=device) for device in range(8)
]
for number in range(3):
    outputs = [pipeline.run()[0] for pipeline in pipelines]
    assert [output.device_id() for output in outputs] == list(range(8))
    for output in outputs:
        assert_same(output, ragged(number))
