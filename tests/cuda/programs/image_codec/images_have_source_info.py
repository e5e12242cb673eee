"""Images have source info."""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from dali_core import fn
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import files
from tests.cuda.programs.pipeline_streams.pipelines import made

image_codec.refused.add(1)
folder = Path(mkdtemp())
names = [str(folder / f"{number}.bin") for number in range(4)]
for name, file in zip(names, files):
    Path(name).write_bytes(file)


def outputs():
    image = fn.decoders.image(fn.readers.file(files=names)[0], device="mixed")
    return [fn.get_property(image, key="source_info")]


(batch,) = made(outputs).run()
found = [bytes(np.asarray(name)).decode() for name in batch]
assert found == names, found
