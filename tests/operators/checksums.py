"""Checksums of the results of all examples: ``python -m tests.operators.checksums`` prints them."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest

from tests.operators.suite import all_examples, run


@functools.cache
def checksums() -> dict[str, str]:
    """Run all examples; return a checksum of all bits of the results of each."""
    found = {}
    for operator, example in all_examples():
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)  # where operators write
            try:
                result = run(operator, example, example.arguments_in(Path(folder)))
            except pytest.skip.Exception:  # a package is not installed
                continue
            finally:
                os.chdir(before)
        digest = hashlib.sha256()
        for samples in result.samples:
            for sample in samples:
                digest.update(sample.tobytes())
        found[f"{operator}-{example.name}"] = digest.hexdigest()
    return found


if __name__ == "__main__":
    print(json.dumps(checksums()))
