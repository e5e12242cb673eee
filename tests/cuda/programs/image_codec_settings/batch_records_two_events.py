"""Batch records two events."""

from dali_core import fn
from tests.cuda.programs.image_codec.files import encoded, files, photos
from tests.cuda.programs.pipeline_streams.pipelines import made
from tests.cuda.simulated_driver import control
from tests.generated_images import jpeg

files[:] = [jpeg(photo) for photo in photos]
counts = []
for size in (4, 32):
    pipeline = made(lambda: [fn.decoders.image(encoded(), device="mixed")], seed=7, batch_size=size)
    for _ in range(3):
        pipeline.run()
    before = control.counts()
    for _ in range(5):
        pipeline.run()
    after = control.counts()
    names = ("cuEventRecord", "cuStreamWaitEvent", "cuMemcpyAsync", "cuLaunchKernel")
    counts.append([after.get(name, 0) - before.get(name, 0) for name in names])
    pipeline.close()
print(counts)
# Files that the device decodes need no copies of their own, and no launch for each.
assert max(counts[1][2:]) <= 5 * 4, counts
assert counts[0][0] < 5 * 8 and max(counts[1][i] - counts[0][i] for i in (0, 1)) < 8, counts
