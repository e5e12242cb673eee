"""Transforms of images under their name in the reference API: see `dali_core.torchvision`."""

import sys

from dali_core import torchvision

# The same modules: a class is known by one name only.
for _name in [name for name in sys.modules if f"{name}.".startswith("dali_core.torchvision.")]:
    sys.modules[_name.replace("dali_core.torchvision", __name__, 1)] = sys.modules[_name]
sys.modules[__name__] = torchvision
