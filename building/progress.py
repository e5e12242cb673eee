"""Shows how far `pip install -v` is: ``pip install -v . 2>&1 | python -m building.progress LOG``.

Prints one line for each package that is fetched and each step of the build, with the seconds since
the start; everything goes to the file LOG, whose end is shown if the installation fails.
"""

from __future__ import annotations

import re
import sys
import time
from collections import deque
from pathlib import Path

STEPS = re.compile(
    r"^\s*(?P<step>\[\d+/\d+, .*|Waiting for another build.*|Building without CUDA.*"
    r"|Downloading [^ ]+ .*|(?:Installing collected|Successfully installed).*"
    r"|Installing build dependencies|Building wheel for [^ ]+|ERROR: .*|error: .*)"
)
WIDTH = 100


def main(log: Path) -> None:
    """Copy standard input to `log`, and show what matters."""
    begin = time.monotonic()
    last: deque[str] = deque(maxlen=60)
    failed = False
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as copy:
        for line in sys.stdin:
            copy.write(line)
            last.append(line)
            failed = failed or line.lstrip().startswith(("ERROR:", "error:"))
            if found := STEPS.match(line):
                text = f"  [{time.monotonic() - begin:4.0f} s] {found['step'].rstrip('. ')}"
                print(text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}...", flush=True)
    if failed:
        print("".join(last), end="", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
