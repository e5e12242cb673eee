"""The process of a peer: reads a request from standard input, measures, and prints the result.

``command.run_worker`` starts it, as ``python -m benchmarks.worker``.
"""

from __future__ import annotations

import importlib
import json
import sys

from . import measurements

RESULT_MARK = "benchmark result: "


def main() -> None:
    """Process one request."""
    request = json.load(sys.stdin)
    peer = importlib.import_module(f"benchmarks.peers.{request['peer']}")
    result = getattr(measurements, request["measurement"])(peer, **request["parameters"])
    print(RESULT_MARK + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
