"""Windows outside of an image."""

from dali_core import fn
from tests.cuda.programs.image_codec.bad_files import good, message
from tests.cuda.programs.image_codec.files import compare, files

files[:] = good


def make(data, device):
    return fn.decoders.image_crop(data, device=device, crop=(44, 20))


for device in ("cpu", "mixed"):
    text = message(make, device)
    assert "fn.decoders.image_crop, at" in text and "sample 0: the" in text, text
    assert "must lie inside the" in text, text
compare(make, on_sample_error="replace", max_bad_samples=100)
