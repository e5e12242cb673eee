"""Pipeline close with work in flight."""

import gc

from dali_core.errors import PipelineStateError
from tests.cuda.small_pipeline import is_right, left, make

for depth in (1, 2, 5):
    for end in ("close", "drop", "keep", "reset", "close twice"):
        pipeline = make(prefetch_queue_depth=depth)
        batch = pipeline.run()
        if end == "reset":
            pipeline.reset()
            assert is_right(pipeline.run(), 1)
        if end.startswith("close"):
            pipeline.close()
        if end == "close twice":
            pipeline.close()
            try:
                pipeline.run()
            except PipelineStateError:
                pass
            else:
                raise AssertionError("it is closed")
        if end == "drop":
            del batch
        del pipeline
        gc.collect()
        if end != "drop":
            assert is_right(batch, 0)
            del batch
        assert not left(), (depth, end, left())
