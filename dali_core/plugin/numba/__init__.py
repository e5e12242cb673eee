"""Functions that Numba compiles, as operators; the extra is ``numba``.

Native threads call them for many samples at a time, without the GIL.
"""

from __future__ import annotations

from dali_core.plugin.numba.function import NumbaFunction as NumbaFunction
