"""Results equal the host."""

import json
import sys

import numpy as np

from tests.cuda.programs.auto_aug.augmented import outputs

names = json.loads(sys.argv[1])
num_outputs = json.loads(sys.argv[2])
found = outputs(*names)
assert len(found) == num_outputs
for host, device in zip(found[::2], found[1::2]):
    for one, other in zip(host, device):
        assert one.dtype == other.dtype == np.uint8
        assert (one == other).all()
