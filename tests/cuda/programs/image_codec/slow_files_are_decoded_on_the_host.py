"""Slow files are decoded on the host."""

from dali_core import fn
from dali_core.errors import SampleError
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import compare, files, results
from tests.jpeg_scans import FlatImage, write_scans

files[1] = write_scans(FlatImage(4000, 4000), [0] * 100)
try:
    results(fn.decoders.image, "mixed")
except SampleError as error:
    assert error.operator == "decoders.image" and error.sample == 1, error
    assert "the scans of a JPEG file must" in str(error), error
else:
    raise AssertionError("no error")
seen = []
parse = image_codec.CodeStream.__init__


def note(stream, array):
    seen.append(bytes(array))
    parse(stream, array)


image_codec.CodeStream.__init__ = note
compare(fn.decoders.image, on_sample_error="replace", max_bad_samples=100)
assert files[0] in seen
assert files[1] not in seen
