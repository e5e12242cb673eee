"""Photo-like JPEG files, drawn from a seed, for demonstrations, tests and benchmarks.

``generate(folder)`` draws ten classes of pictures (bricks, clouds, flowers ...) and stores them
like photos in practice: many sizes, both orientations, some grey, some with an EXIF rotation,
several qualities and chroma subsamplings, some progressive, and one CMYK file.
"""

from .dataset import CLASSES as CLASSES
from .dataset import HELD_OUT as HELD_OUT
from .dataset import TRAIN as TRAIN
from .dataset import generate as generate
