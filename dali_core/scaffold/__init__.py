"""Starts new operators, in the source tree or in a package of their own, and readers of formats.

``python -m dali_core.scaffold operator group.name``,
``python -m dali_core.scaffold package my_ops my.solarize`` and
``python -m dali_core.scaffold reader my_format``.
"""

from __future__ import annotations

from dali_core.scaffold.command import main as main
from dali_core.scaffold.operator import create_operator as create_operator
from dali_core.scaffold.package import create_package as create_package
from dali_core.scaffold.reader import create_reader as create_reader
