"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# Times depend on what else the machine does; examples must not, where nobody can look at them.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
