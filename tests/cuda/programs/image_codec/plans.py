"""Plans of requests that the device's decoder does not support, and of one that it does."""

from dali_core import fn, types
from tests.cuda.programs.image_codec.files import encoded
from tests.cuda.programs.pipeline_streams.pipelines import made


def plan(**options):
    return str(made(lambda: [fn.decoders.image(encoded(), device="mixed", **options)]).plan())


others = [{"dtype": types.FLOAT}, {"output_type": types.YCbCr}, {"output_type": types.ANY_DATA}]
for options in others:
    assert "on_device" not in plan(**options), plan(**options)
