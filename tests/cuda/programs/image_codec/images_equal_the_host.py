"""Images equal the host."""

from dali_core import fn, types
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import compare

image_codec.refused |= {1, 6}
compare(fn.decoders.image)
(decoder,) = image_codec.decoders
assert decoder.num_files >= 8, decoder.num_files
for output_type in (types.BGR, types.GRAY):
    compare(lambda data, device: fn.decoders.image(data, device=device, output_type=output_type))
assert len(image_codec.decoders) == 3
