"""nvJPEG of CUDA 12 is a package, that of CUDA 13 a file."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cuda.programs.image_codec.plans import plan

del sys.modules["nvidia.nvjpeg"]
with TemporaryDirectory() as folder:
    sys.modules["nvidia.nvimgcodec"].__spec__.submodule_search_locations[:] = [f"{folder}/codec"]
    assert "on_device" not in plan()
    for place in ("codec/.libs", "cu13/lib"):
        library = Path(folder, place, "libnvjpeg.so.13")
        library.parent.mkdir(parents=True)
        library.touch()
        assert "on_device" in plan()
        library.unlink()
