"""Random operators do not depend on the decoder."""

from dali_core import fn
from tests.cuda.programs.image_codec.files import compare


def make(data, device):
    angle = fn.random.uniform(range=(0, 1))
    image = fn.decoders.image_random_crop(data, device=device, random_area=(0.3, 0.9))
    return fn.crop(image, crop=(8, 8), crop_pos_x=fn.random.uniform(range=(0, 1)), crop_pos_y=angle)


compare(make)
