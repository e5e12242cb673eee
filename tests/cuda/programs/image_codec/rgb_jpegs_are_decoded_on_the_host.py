"""Rgb jpegs are decoded on the host."""

from dali_core import fn
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import compare, files
from tests.generated_images import sampled_jpeg, without_segments

usual = sampled_jpeg(33, 70, "444")
by_adobe = sampled_jpeg(33, 70, "444", adobe_transform=0)
# The components of a frame are numbered 1, 2, 3, or named; a scan refers to them.
by_names = without_segments(usual, 0xE0)
frame, scan = by_names.index(b"\xff\xc0"), by_names.index(b"\xff\xda")
by_names = bytearray(by_names)
for i, name in enumerate(b"RGB"):
    by_names[frame + 10 + 3 * i] = by_names[scan + 5 + 2 * i] = name
files[:] = [usual, by_adobe, bytes(by_names), usual]
decoded = set()
decode = image_codec.Decoder._decode


def noted(self, file, *others):
    decoded.add(file.array.tobytes())
    return decode(self, file, *others)


image_codec.Decoder._decode = noted
compare(fn.decoders.image, most=0)
assert decoded == {usual}
