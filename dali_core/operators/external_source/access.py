"""Random access to the data of sources of `fn.external_source`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dali_core._types import SampleInfo
from dali_core.errors import ArgumentTypeError
from dali_core.operators.external_source.states import is_iterable
from dali_core.operators.external_source.step import takes_argument


class ExternalSourceAccess:
    """Asks sources that say which data is wanted: callables with an argument, and sequences."""

    def sample(self, arguments: dict[str, Any], info: SampleInfo) -> dict[str, Any] | None:
        """Call a source of samples for this one only."""
        source = arguments.get("source")
        if source is None or not (_gives_samples(arguments) and _is_asked(source)):
            return None
        return _in_this_thread(arguments, lambda _: source(info), batch=False)

    def batch(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a source of batches, or take an item of a sequence, for the batch's number."""
        source, by_sample = arguments.get("source"), _gives_samples(arguments)
        if source is None:
            return arguments
        if isinstance(source, Sequence):
            is_endless = arguments.get("cycle") in ("quiet", True)
            item = _item_of(source, is_endless=is_endless)
            if by_sample:
                return _in_this_thread(
                    arguments, lambda info: item(info.idx_in_epoch), batch=False, batch_info=False
                )
            return _in_this_thread(arguments, item, batch=True, batch_info=False)
        if not _is_asked(source):
            raise ArgumentTypeError(
                "the source must say which data is wanted, to give that of one sample: be a "
                "sequence, or a callable that takes a types.SampleInfo or the number of the batch "
                f"(got {source!r:.60}). Pass the data of the sample as inputs={{name: array}}."
            )
        return _in_this_thread(arguments, source, batch=not by_sample)

    def fed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Take what is fed."""
        return {**arguments, "source": None, "parallel": False, "blocking": False}


def _gives_samples(arguments: dict[str, Any]) -> bool:
    batch = arguments.get("batch")
    return batch is False or (bool(arguments["parallel"]) and not batch)


def _is_asked(source: Any) -> bool:
    return callable(source) and not is_iterable(source) and takes_argument(source)


def _item_of(source: Sequence[Any], *, is_endless: bool) -> Callable[[int], Any]:
    def item(number: int) -> Any:
        if is_endless and source:
            number %= len(source)
        if number >= len(source):
            raise StopIteration
        return source[number]

    return item


def _in_this_thread(arguments: dict[str, Any], source: Any, **others: Any) -> dict[str, Any]:
    return {**arguments, "source": source, "parallel": False, "cycle": None, **others}
