"""The protocol of adapters for iterators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Converter(Protocol):
    """Turns batches into arrays of a framework, as `dali_core.adapters.Adapter` describes it."""

    @property
    def name(self) -> str:
        """Name in the registry."""
        ...

    @property
    def representations(self) -> Sequence[str]:
        """What `represent` offers."""
        ...

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as `kind`."""
        ...

    def assemble(self, shards: list[dict[str, Any]]) -> Any:
        """Put the outputs of all pipelines together."""
        ...

    def stream(self, device_id: int) -> int | None:
        """Return the handle of the stream on which the framework will use data of a device."""
        ...
