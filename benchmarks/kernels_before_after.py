"""Compare the speed of operators in two checkouts: ``python -m benchmarks.kernels_before_after``.

Both must be built in place. A process of each runs the same calls alternately, and processor time
is measured. Ratios are those of the fastest runs, before / after: below 1, the second is slower.
Calls that appear slower are measured again, in more rounds.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

from . import machine
from .command import ROOT, positive, warn_if_busy, write_results
from .summary import Spread, ratio_of_lowest

SLOWER = 0.98
AGAIN = 4  # rounds for calls that appear slower


class Side:
    """The process of one checkout."""

    def __init__(self, checkout: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout)}
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks" / "kernels_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=checkout,
            env=environment,
        )
        hello = self._read()
        if not Path(hello["library"]).is_relative_to(checkout):
            raise SystemExit(f"{checkout}: the library was found elsewhere ({hello['library']}).")
        self.calls: list[str] = hello["calls"]

    def seconds(self, call: str, runs: int) -> float | None:
        """Return the time of the fastest run; None if this library does not support the call."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"call": call, "runs": runs}) + "\n")
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            tqdm.write(f"{call}: {answer['error'].splitlines()[0]}")
            return None
        return float(answer["seconds"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"a worker ended with status {self._process.wait()}; see above.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels_before_after",
        description=(__doc__ or "").split("\n", 1)[0],
    )
    parser.add_argument("before", type=Path, help="checkout, built in place")
    parser.add_argument("after", type=Path, help="checkout, built in place")
    parser.add_argument("--calls", nargs="+", default=["*"], metavar="PATTERN", help="(all)")
    parser.add_argument("--rounds", type=positive, default=9, help="of each (%(default)s)")
    parser.add_argument(
        "--milliseconds", type=positive, default=5, help="that a round takes (%(default)s)"
    )
    parser.add_argument(
        "--save", action="store_true", help="write the ratios to a file in benchmarks/results"
    )
    arguments = parser.parse_args()
    warn_if_busy()
    checkouts = [arguments.before.resolve(), arguments.after.resolve()]
    sides = [Side(checkout) for checkout in checkouts]
    chosen = [
        call
        for call in sides[0].calls
        if any(fnmatch.fnmatch(call, pattern) for pattern in arguments.calls)
    ]
    seconds = arguments.milliseconds / 1000
    ratios = {}
    for call in tqdm(chosen, unit="call"):
        ratio = measure(sides, call, arguments.rounds, seconds)
        if ratio is not None:
            ratios[call] = ratio
    slower = [call for call, ratio in ratios.items() if ratio.median < SLOWER]
    for call in tqdm(slower, unit="call"):
        ratio = measure(sides, call, arguments.rounds * AGAIN, seconds)
        if ratio is not None:
            ratios[call] = ratio
    for side in sides:
        side.close()
    report(ratios)
    if arguments.save:
        results = {
            "date": date.today().isoformat(),
            "machine": machine.describe(),
            "settings": {"rounds": arguments.rounds, "milliseconds": arguments.milliseconds},
            "commits": dict(zip(("before", "after"), map(commit_of, checkouts), strict=True)),
            "ratios": {call: dataclasses.asdict(ratio) for call, ratio in ratios.items()},
        }
        write_results("kernels-before-after", results)


def commit_of(checkout: Path) -> str:
    """Return the commit of a checkout."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        command, cwd=checkout, capture_output=True, text=True, check=True
    ).stdout.strip()


def measure(sides: list[Side], call: str, rounds: int, seconds: float) -> Spread | None:
    """Measure a call in both checkouts alternately; None if it fails in one of them."""
    first = [side.seconds(call, 2) for side in sides]
    if None in first:
        return None
    runs = max(1, round(seconds / max(sum(value or 0 for value in first) / 4, 1e-6)))
    times: list[list[float]] = [[], []]
    for round_ in range(rounds):
        for index in (0, 1) if round_ % 2 == 0 else (1, 0):
            times[index].append(sides[index].seconds(call, runs) or 0.0)
    return ratio_of_lowest(times[0], times[1])


def report(ratios: dict[str, Spread]) -> None:
    """Print all ratios, then those of slower calls."""
    for call, ratio in ratios.items():
        print(f"{ratio.median:6.2f} ({ratio.low:.2f} to {ratio.high:.2f})  {call}")
    slower = {call: ratio for call, ratio in ratios.items() if ratio.median < SLOWER}
    print(f"\n{len(slower)} of {len(ratios)} below {SLOWER}:")
    for call, ratio in sorted(slower.items(), key=lambda item: item[1].median):
        print(f"{ratio.median:6.2f} ({ratio.low:.2f} to {ratio.high:.2f})  {call}")


if __name__ == "__main__":
    main()
