"""Files."""

import numpy as np

from dali_core import fn, types
from dali_core.tensors import TensorListGPU
from tests.cuda import image_codec
from tests.cuda.programs.pipeline_streams.pipelines import made
from tests.generated_images import encode, jpeg, photo_like

image_codec.install()
photos = [photo_like(40 + 7 * i, 60 - 5 * i, seed=i) for i in range(8)]
files = [jpeg(photo, subsampling=i % 3, progressive=i % 2 == 1) for i, photo in enumerate(photos)]
files[2] = encode(photos[2], "PNG")
files[5] = encode(photos[5], "JPEG", "L")
files[6] = encode(photos[6], "JPEG", "CMYK")


def encoded():
    return fn.external_source(
        source=lambda info: np.frombuffer(files[info.idx_in_epoch % len(files)], np.uint8),
        batch=False,
    )


def results(make, device, batches=4, **options):
    options = {"seed": 7, "device_id": 0 if device == "mixed" else None} | options
    pipeline = made(lambda: [make(encoded(), device=device)], **options)
    found = []
    for _ in range(batches):
        (batch,) = pipeline.run()
        if device == "mixed":
            assert isinstance(batch, TensorListGPU)
            batch = batch.as_cpu()
        assert batch.layout() == "HWC"
        assert batch.dtype == types.UINT8
        found += [np.array(sample) for sample in batch]
    return found


def compare(make, most=1.0, **options):
    expected = results(make, "cpu", **options)
    found = results(make, "mixed", **options)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.shape == other.shape, (number, one.shape, other.shape)
        difference = np.abs(one.astype(int) - other).mean() if one.size else 0
        assert difference <= most, (number, difference)
