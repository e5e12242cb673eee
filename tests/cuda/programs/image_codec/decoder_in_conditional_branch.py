"""Decoder in conditional branch."""

import sys
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from dali_core import fn
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import compare, encoded

image_codec.refused |= {0, 3}


def chain(data, device):
    image = fn.decoders.image_random_crop(data, device=device)
    image = fn.resize(image, size=(16, 12))
    return fn.flip(image, horizontal=fn.random.coin_flip())


compare(chain)
folder = Path(mkdtemp())
(folder / "branches.py").write_text("""
from dali_core import fn, pipeline_def

@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=1, seed=1)
def branches(encoded, device):
    data = encoded()
    if fn.shapes(data)[0] % 2 == 0:
        image = fn.decoders.image(data, device=device)
    else:
        image = fn.flip(fn.decoders.image(data, device=device))
    return image
""")
sys.path.insert(0, str(folder))
from branches import branches

for _ in range(3):
    pipelines = [
        branches(encoded, device, device_id=number)
        for device, number in (("cpu", None), ("mixed", 0))
    ]
    (expected,), (found,) = (pipeline.run() for pipeline in pipelines)
    for one, other in zip(found.as_cpu(), expected, strict=True):
        assert np.abs(np.array(one).astype(int) - np.array(other)).mean() < 1
