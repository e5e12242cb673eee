"""Starts new operators, in the source tree or in a package of their own.

``python -m dali_core.scaffold operator group.name`` and
``python -m dali_core.scaffold package my_ops my.solarize``.
"""

from __future__ import annotations

from dali_core.scaffold.command import main as main
from dali_core.scaffold.operator import create_operator as create_operator
from dali_core.scaffold.package import create_package as create_package
