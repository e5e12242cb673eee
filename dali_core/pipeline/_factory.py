"""Type of what `pipeline_def` returns.

Type checkers read the stub beside this module, which has the arguments of `Pipeline` in full.
"""

from __future__ import annotations

from typing import Any, ParamSpec, Protocol

P = ParamSpec("P")


class PipelineFactory(Protocol[P]):
    """Makes a pipeline: takes the arguments of the function, and by name those of `Pipeline`."""

    __name__: str

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Make a `Pipeline`."""
        ...
