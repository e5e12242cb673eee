"""Compare the speed of operators in two checkouts: ``python -m benchmarks.kernels_before_after``.

Both must be built in place. In each round, a new process of each runs the same calls alternately,
and the fastest run of each process counts. Ratios are those of the medians of all processes, before
/ after: below 1, the second is slower.

Where data lie in memory is an accident of a process, and may double the time of a call, as often as
it is run. Within one process, the same code may thus appear to be slower than itself.
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
from .summary import Spread, ratio_of_medians

SLOWER = 0.98


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

    def seconds(self, call: str, duration: float) -> float | None:
        """Return the time of the fastest run; None if this library does not support the call.

        `duration` is how long it is run in all, in seconds.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"call": call, "seconds": duration}) + "\n")
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
    parser.add_argument("--rounds", type=positive, default=9, help="of new processes (%(default)s)")
    parser.add_argument(
        "--milliseconds",
        type=positive,
        default=5,
        help="that a call is run for in a round (%(default)s)",
    )
    parser.add_argument(
        "--save", action="store_true", help="write the ratios to a file in benchmarks/results"
    )
    arguments = parser.parse_args()
    warn_if_busy()
    checkouts = [arguments.before.resolve(), arguments.after.resolve()]
    times = measure(
        checkouts, arguments.calls, arguments.rounds, duration=arguments.milliseconds / 1000
    )
    ratios = {call: ratio_of_medians(*both) for call, both in times.items()}
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


def measure(
    checkouts: list[Path], patterns: list[str], rounds: int, *, duration: float
) -> dict[str, tuple[list[float], list[float]]]:
    """Return for each call its times in both checkouts, one of each round.

    Calls that fail in one of them are left out.
    """
    times: dict[str, tuple[list[float], list[float]]] = {}
    failed: set[str] = set()
    for round_ in tqdm(range(rounds), unit="round"):
        sides = [Side(checkout) for checkout in checkouts]
        for call in sides[0].calls:
            if call in failed or not any(fnmatch.fnmatch(call, pattern) for pattern in patterns):
                continue
            for index in (0, 1) if round_ % 2 == 0 else (1, 0):
                seconds = sides[index].seconds(call, duration)
                if seconds is None:
                    failed.add(call)
                    times.pop(call, None)
                    break
                times.setdefault(call, ([], []))[index].append(seconds)
        for side in sides:
            side.close()
    return times


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
