"""Bad files."""

from dali_core import fn
from dali_core.errors import SampleError
from tests.cuda.programs.image_codec.files import files, results

good = list(files)
files[1] = b"\xff\xd8\xff and no more\xff\xd9"
files[3] = good[3][: len(good[3]) // 2]
calls = [
    fn.decoders.image,
    fn.decoders.image_random_crop,
    lambda data, device: fn.decoders.image_crop(data, device=device, crop=(30, 20)),
    lambda data, device: fn.decoders.image_slice(data, device=device, end=(30, 20)),
]


def message(make, device):
    try:
        results(make, device)
    except SampleError as error:
        return str(error)
    raise AssertionError("no error")
