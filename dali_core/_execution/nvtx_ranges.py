"""Optional NVTX ranges around the work of this library in Python threads."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

_DOMAIN = "dali_core"


class NvtxRanges:
    """The switch of NVTX ranges.

    Attributes
    ----------
    module : module or None
        The package nvtx while ranges are wanted.
    """

    def __init__(self) -> None:
        self.module: Any = None

    def around(self, name: str) -> NvtxRange | nullcontext[None]:
        """Return a block that is a range of this name, if ranges are wanted."""
        return nullcontext() if self.module is None else NvtxRange(self.module, name)


class NvtxRange:
    """A range, which ends even if no ranges are wanted any more."""

    def __init__(self, module: Any, name: str) -> None:
        self._module = module
        self._name = name

    def __enter__(self) -> None:
        self._module.push_range(self._name, domain=_DOMAIN)

    def __exit__(self, *error: object) -> None:
        self._module.pop_range(domain=_DOMAIN)


NVTX = NvtxRanges()
