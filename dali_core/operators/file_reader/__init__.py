"""The former name of `fn.readers.file`."""

from __future__ import annotations

from dali_core.operators.readers.file import SPEC as _SPEC

SPEC = _SPEC.formerly("file_reader")
