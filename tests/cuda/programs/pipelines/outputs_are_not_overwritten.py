"""Outputs are not overwritten."""

from dali_core import fn
from tests.cuda.programs.pipelines.ragged_batches import assert_same, batches, made, ragged

pipeline = made(lambda: fn.external_source(source=batches).gpu())
kept = [pipeline.run()[0] for _ in range(8)]
pipeline.close()
del pipeline
for number, batch in enumerate(kept):
    assert_same(batch, ragged(number))
