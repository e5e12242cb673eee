"""The imperative API under its name in the reference API: see `dali_core.dynamic`."""

import sys

from dali_core import dynamic

# The same modules: a second copy would have generators of random numbers of its own.
for _name in [name for name in sys.modules if f"{name}.".startswith("dali_core.dynamic.")]:
    sys.modules[_name.replace("dali_core.dynamic", __name__, 1)] = sys.modules[_name]
sys.modules[__name__] = dynamic
