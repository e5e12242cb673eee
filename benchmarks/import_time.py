"""Measure the time to import the library: ``python -m benchmarks.import_time``.

Every measurement is a fresh interpreter. The time of an interpreter that imports nothing is
measured alternately, and is to be subtracted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from tqdm import tqdm

from .command import ROOT, add_peer_options, describe_run, find_peers, write_results
from .peers import PEERS
from .summary import quartiles

_IMPORTS = {
    "ours": "import dali_core",
    "reference": "import nvidia.dali, nvidia.dali.fn",
    "torch_pillow": "import torch.utils.data, PIL.Image",
}


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.import_time", description=__doc__.split("\n", 1)[0]
    )
    add_peer_options(parser, default=("ours", "reference"))
    parser.set_defaults(rounds=15)
    arguments = parser.parse_args()
    peers = find_peers(arguments)
    programs = {"nothing": (sys.executable, "pass")}
    programs |= {peer.name: (peer.interpreter, _IMPORTS[peer.name]) for peer in peers}
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in tqdm(range(arguments.rounds), unit="round"):
        for name, (interpreter, program) in programs.items():
            start = time.perf_counter()
            subprocess.run([interpreter, "-c", program], check=True, cwd=ROOT)
            times[name].append(1000 * (time.perf_counter() - start))
    for name, values in times.items():
        spread = quartiles(values)
        title = PEERS.get(name, name)
        print(f"{title:30} {spread.median:6.0f} ms ({spread.low:.0f} to {spread.high:.0f})")
    write_results("import-time", describe_run(arguments, peers, []) | {"milliseconds": times})


if __name__ == "__main__":
    main()
