"""Members of `nvidia.dali.backend` under the name of its extension module."""

from __future__ import annotations

from dali_core import types as types
from dali_core.backend import *  # noqa: F403
from dali_core.compat.operator_schemas import GetSchema as GetSchema
