"""Multi paste source info."""

import tempfile
from pathlib import Path

from dali_core import Pipeline, fn


def sources(device, folder):
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=0)
    with pipeline:
        contents, _ = fn.readers.file(files=[f"{folder}/{name}" for name in "ab"])
        image = fn.reinterpret(contents, shape=[2, 2, 3], layout="HWC")
        image = image.gpu() if device == "gpu" else image
        pipeline.set_outputs(fn.multi_paste(image, in_ids=[1, 0], output_size=[4, 4]))
    (batch,) = pipeline.run()
    return [tensor.source_info() for tensor in batch]


with tempfile.TemporaryDirectory() as folder:
    for name in "ab":
        Path(folder, name).write_bytes(b"x" * 12)
    assert sources("gpu", folder) == sources("cpu", folder) == [f"{folder}/b;{folder}/a"] * 2
