"""Shared parts of the commands: options, peers, photos, processes, and files of results."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from examples.photos import generate

from . import machine
from .peers import DEFAULT_PEERS, PEERS
from .worker import RESULT_MARK

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
GENERATED_PHOTOS = ROOT / "work" / "photos"
BUSY = 0.5
PHOTO_SUFFIXES = frozenset({".jpeg", ".jpg"})


class WorkerError(RuntimeError):
    """The process of a peer failed; the message ends with its last output."""


@dataclass(frozen=True)
class Peer:
    """A loader that can be measured here."""

    name: str
    interpreter: str
    versions: dict[str, str]
    pipelines: frozenset[str]

    @property
    def title(self) -> str:
        """The displayed name."""
        return PEERS[self.name]

    def measure(self, measurement: str, **parameters: Any) -> dict[str, Any]:
        """Run a function of ``measurements`` in a fresh process."""
        return run_worker(self.interpreter, self.name, measurement, parameters)


def add_peer_options(
    parser: argparse.ArgumentParser, default: Sequence[str] = DEFAULT_PEERS
) -> None:
    """Add the options for the peers and the number of rounds."""
    parser.add_argument(
        "--peers",
        nargs="+",
        choices=tuple(PEERS),
        metavar="PEER",
        help=f"whom to measure, of {', '.join(PEERS)} "
        f"(default: those of {', '.join(default)} that are installed)",
    )
    parser.set_defaults(default_peers=tuple(default))
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="PEER=INTERPRETER",
        help="run a peer with the interpreter of another environment, where it is installed",
    )
    parser.add_argument(
        "--rounds", type=positive, default=7, help="measurements of each (%(default)s)"
    )


def add_photo_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the data and the loading."""
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="JPEG files (default: generated photos)"
    )
    parser.add_argument(
        "--threads", type=positive, default=machine.processors(), help="(%(default)s)"
    )
    parser.add_argument("--batch-size", type=positive, default=64, help="(%(default)s)")
    parser.add_argument(
        "--images",
        type=positive,
        default=2000,
        help="images in a measurement: whole passes over the files, or some of the files "
        "if there are more (%(default)s)",
    )


def positive(text: str) -> int:
    """Read a positive integer from the command line."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1 (got {value})")
    return value


def find_peers(arguments: argparse.Namespace) -> list[Peer]:
    """Return the versions of each peer.

    Peers that were requested by name must be installed, and this library too; others are skipped.
    """
    warn_if_busy()
    interpreters = dict(choice.partition("=")[::2] for choice in arguments.python)
    if unknown := sorted(set(interpreters) - set(PEERS)):
        raise SystemExit(
            f"--python: the peer must be one of {', '.join(PEERS)} (got {', '.join(unknown)})."
        )
    peers = []
    for name in arguments.peers or arguments.default_peers:
        interpreter = interpreters.get(name, sys.executable)
        try:
            answer = run_worker(interpreter, name, "versions", {})
        except WorkerError as error:
            if arguments.peers or name == "ours":
                raise SystemExit(f"{PEERS[name]} cannot be measured: {error}") from error
            print(f"{PEERS[name]} is left out: {str(error).splitlines()[-1]}")
            continue
        peers.append(Peer(name, interpreter, answer["versions"], frozenset(answer["pipelines"])))
    return peers


def find_photos(folder: Path | None, most: int) -> list[str]:
    """Return JPEG files of a folder, or of the generated photos, and load them into the page cache.

    Where there are more than ``most``, that many are taken at even distances.
    """
    root = generate(GENERATED_PHOTOS) if folder is None else folder
    files = sorted(
        str(path) for path in root.resolve().rglob("*") if path.suffix.lower() in PHOTO_SUFFIXES
    )
    if not files:
        raise SystemExit(f"--data: the folder must have JPEG files in it (found none in {root}).")
    if len(files) > most:
        files = [files[index * len(files) // most] for index in range(most)]
    for file in files:
        Path(file).read_bytes()
    return files


def batches_of(num_images: int, files: Sequence[str], batch_size: int) -> int:
    """Return the number of batches of complete passes over the files with at least ``num_images``.

    Complete passes, because photos differ: every measurement then has the same work.
    """
    passes = -(-num_images // len(files))
    return max(1, round(passes * len(files) / batch_size))


def warn_if_busy() -> None:
    """Warn if the machine is busy with other work, which no measurement can compensate for."""
    load = os.getloadavg()[0]
    if load > BUSY:
        print(f"The machine is busy (load average {load:.1f}): expect noise.", file=sys.stderr)


def run_worker(
    interpreter: str,
    peer: str,
    measurement: str,
    parameters: dict[str, Any],
    *,
    checkout: Path = ROOT,
) -> dict[str, Any]:
    """Run a function of ``measurements`` of a checkout in a fresh process; return its result."""
    request = {"peer": peer, "measurement": measurement, "parameters": parameters}
    process = subprocess.run(
        [interpreter, "-m", "benchmarks.worker"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=checkout,
        check=False,
    )
    answers = [line for line in process.stdout.splitlines() if line.startswith(RESULT_MARK)]
    if process.returncode or not answers:
        raise WorkerError(f"exit status {process.returncode}\n{process.stderr.strip()[-2000:]}")
    answer: dict[str, Any] = json.loads(answers[0].removeprefix(RESULT_MARK))
    return answer


def describe_run(
    arguments: argparse.Namespace, peers: Sequence[Peer], files: Sequence[str]
) -> dict[str, Any]:
    """Describe machine, peers, data and settings, for the file of results.

    Paths are left out, since they are meaningless on other machines.
    """
    settings = {
        key: value
        for key, value in vars(arguments).items()
        if key in ("threads", "batch_size", "rounds", "images", "share", "batches")
    }
    description = {
        "date": date.today().isoformat(),
        "machine": machine.describe(),
        "peers": {peer.title: peer.versions for peer in peers},
        "settings": settings,
    }
    if files:
        total = sum(Path(file).stat().st_size for file in files)
        kind = "generated photos" if arguments.data is None else "photos"
        description["data"] = {"kind": kind, "files": len(files), "mean_bytes": total // len(files)}
    return description


def results_path(
    measurement: str, suffix: str, *, folder: Path = RESULTS, device: str = ""
) -> Path:
    """Return the name of a file of results, from the measurement, the date and the device."""
    folder.mkdir(exist_ok=True)
    place = "-".join(re.findall(r"[a-z0-9]+", device.lower())) or machine.short_name()
    return folder / f"{measurement}-{date.today().isoformat()}-{place}{suffix}"


def write_results(
    measurement: str, results: dict[str, Any], *, folder: Path = RESULTS, device: str = ""
) -> None:
    """Write results as JSON, and print the path; `device` is a device other than the processor."""
    path = results_path(measurement, ".json", folder=folder, device=device)
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(f"results: {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
