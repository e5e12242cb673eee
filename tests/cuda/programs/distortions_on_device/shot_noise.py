"""Shot noise."""

from dali_core import fn
from tests.cuda.programs.host_and_device import compare, made

for dtype in ("uint8", "int16", "float16", "float32", "float64"):
    for factor in (1e-9, 0.5, 12.0):
        compare(lambda x: fn.noise.shot(x, factor=factor), [made([(401,), (1,), (0,)], dtype)])
