"""Host device round trip."""

from dali_core import fn
from tests.cuda.programs.pipelines.ragged_batches import assert_same, batches, made, ragged


def define():
    data = fn.external_source(source=batches, layout="HWC")
    there = data.gpu()
    return there.cpu(), there, data.gpu().cpu().gpu()


for options in ({}, {"exec_pipelined": False, "exec_async": False}, {"prefetch_queue_depth": 4}):
    pipeline = made(define, **options)
    for number in range(6):
        outputs = pipeline.run()
        assert [type(output).__name__ for output in outputs] == [
            "TensorListCPU",
            "TensorListGPU",
            "TensorListGPU",
        ]
        for output in outputs:
            assert output.layout() == "HWC"
            assert_same(output, ragged(number))
    pipeline.close()
