"""The command ``python -m dali_core.scaffold``."""

from __future__ import annotations

import sys

from dali_core.scaffold.command import main

if __name__ == "__main__":
    sys.exit(main())
