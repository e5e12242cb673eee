"""Runs programs written for NVIDIA DALI: `import nvidia.dali` then gives this library.

``python -m dali_core.compat program.py`` runs a program as it is. Programs, notebooks and tests
that can be changed call `install` before they import `nvidia.dali`.
"""

from __future__ import annotations

from dali_core.compat._finder import install as install
from dali_core.compat._finder import uninstall as uninstall
