"""Statistics."""

import dali_core.cuda
from dali_core import fn
from tests.cuda.programs.pipeline_streams.pipelines import expected, made


def outputs():
    data = fn.external_source(source=expected, name="data")
    return [data.gpu() + 1]


pipeline = made(outputs, enable_memory_stats=True)
held = [pipeline.run()[0] for _ in range(3)]
statistics = pipeline.executor_statistics()
kinds = {name.partition("_")[0] for name in statistics}
assert kinds == {"CPU", "GPU"}, statistics
assert statistics["CPU_data"]["real_memory_size"] == [96]
assert all(entry["real_memory_size"] == [96] for entry in statistics.values()), statistics
used = dali_core.cuda.memory_stats(0)
assert used["reserved_bytes"] >= used["used_bytes"] >= 3 * 96
