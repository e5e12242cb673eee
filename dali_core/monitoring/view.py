"""Lines of the live view."""

from __future__ import annotations

from dali_core._messages import printable
from dali_core.monitoring.snapshot import Snapshot

_MOST_OPERATORS = 5
_BAR = 20
_SMALLEST_WIDTH = 20


def view_lines(
    now: Snapshot, before: Snapshot | None, width: int, *, is_unicode: bool = True
) -> list[str]:
    """Return a block of lines about what a pipeline did last.

    Parameters
    ----------
    now : Snapshot
        The pipeline.
    before : Snapshot or None
        The pipeline earlier, which the rates relate to; None for everything since its start.
    width : int
        Longest line, in columns of the terminal; longer ones are cut.
    is_unicode : bool
        Whether bars may be drawn with other characters than ASCII.

    Returns
    -------
    list of str
        Rate, queue, shares of operators, diagnosis.
    """
    last = now.since(before)
    lines = [_rate_line(now, last), _queue_line(last, is_unicode)]
    total = sum(last.operators.values())
    largest = sorted(last.operators.items(), key=lambda entry: -entry[1])[:_MOST_OPERATORS]
    indent = max((len(printable(name)) for name, _ in largest), default=0)
    indent = min(indent, max(8, width - _BAR - 10))
    for name, seconds in largest:
        share = seconds / total if total > 0 else 0.0
        text = _cut(printable(name), indent).ljust(indent)
        lines.append(f"{text}  {_bar(share, is_unicode)} {_percent(share)}")
    lines.append(now.diagnosis)
    return [_cut(printable(line), max(width, _SMALLEST_WIDTH)) for line in lines]


def view_line(now: Snapshot, before: Snapshot | None) -> str:
    """Return the same in one line, for files and other outputs that are no terminals."""
    last = now.since(before)
    total = sum(last.operators.values())
    name, seconds = max(last.operators.items(), key=lambda entry: entry[1], default=("", 0.0))
    most = f"; {name} {_percent(seconds / total)} of operators" if total > 0 else ""
    return printable(f"{_rate_line(now, last)}; {_queue_text(last)}{most}")


def _rate_line(now: Snapshot, last: Snapshot) -> str:
    seconds = last.seconds or 1.0
    return (
        f"{now.program}: {last.samples / seconds:,.0f} samples/s, "
        f"{last.batches / seconds:,.1f} batches/s; {now.batches:,} batches in {now.seconds:,.0f} s"
    )


def _queue_text(last: Snapshot) -> str:
    if not last.batches:
        return "no batch was asked for"
    time = last.waiting + last.working
    ready = min(last.queued / last.batches, float(last.depth))
    waits = last.waiting / time if time > 0 else 0.0
    return f"{ready:.1f} of {last.depth} batches ready; the loop waits {_percent(waits).strip()}"


def _queue_line(last: Snapshot, is_unicode: bool) -> str:
    share = min(1.0, last.queued / last.batches / last.depth) if last.batches and last.depth else 0
    return f"queue  {_bar(share, is_unicode)} {_queue_text(last)}"


def _bar(share: float, is_unicode: bool) -> str:
    full, empty = ("\N{FULL BLOCK}", "\N{LIGHT SHADE}") if is_unicode else ("#", ".")
    length = round(min(1.0, max(0.0, share)) * _BAR)
    return full * length + empty * (_BAR - length)


def _percent(share: float) -> str:
    return f"{100 * share:3.0f} %"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
