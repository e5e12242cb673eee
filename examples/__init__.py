"""Example programs, one in each folder: ``python -m examples.train_classifier``.

`photos` draws the photos that they use, and `shared` is what several of them need.
"""

from __future__ import annotations

import sys

if sys.argv[0] == "-m":
    # Python puts the current folder first, and `dali_core` in it is not built where the library was
    # installed from a wheel: installed packages go first.
    sys.path.append(sys.path.pop(0))
