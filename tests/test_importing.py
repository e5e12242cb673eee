"""Imports of the package: they have no side effects, and leave out what is not used."""

from __future__ import annotations

import subprocess
import sys

from dali_core._registry.specs import all_specs, known_specs
from dali_core.operators.internal_operators import INTERNAL_GROUPS, OPERATORS_OF_ROLES
from tests.test_layout import FRAMEWORKS


def test_importing_has_no_effects() -> None:
    program = (
        # NumPy starts its own threads, one per processor.
        "import os, sys, threading, numpy\n"
        "before = dict(os.environ)\n"
        "threads = len(os.listdir('/proc/self/task'))\n"
        # Some packages import themselves whenever Python starts.
        "loaded = set(sys.modules)\n"
        "import dali_core, dali_core.adapters, dali_core.plugin.base_iterator\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - loaded}\n"
        # Modules of HTTP take as long to import as a quarter of this library.
        f"print(sorted(tops & {{*{FRAMEWORKS}, 'ssl', 'http', 'email'}}))\n"
        "print(threading.active_count(), len(os.listdir('/proc/self/task')) - threads)\n"
        "print(dict(os.environ) == before)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout.splitlines() == ["[]", "1 0", "True"]
    assert result.stderr == ""


def test_operators_are_found_without_importing_all() -> None:
    roles = {spec.role: name for name, spec in known_specs().items() if spec.role}
    assert roles == OPERATORS_OF_ROLES
    public, present = (
        {name.partition(".")[0] for name in specs if "." in name}
        for specs in (all_specs(), known_specs())
    )
    assert present - public == set(INTERNAL_GROUPS)
    program = (
        "import sys\n"
        "import dali_core\n"
        "from dali_core import fn\n"
        "print([name for name, module in sys.modules.items() if 'SPEC' in vars(module)])\n"
        "fn.readers.file\n"
        "print([name for name, module in sys.modules.items() if 'SPEC' in vars(module)])\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout == "[]\n['dali_core.operators.readers.file']\n"


def test_rarely_used_parts_are_imported_when_used() -> None:
    program = (
        "import sys, dali_core\n"
        "parts = ('batching.planned', 'batching.bucket', 'pipeline.conditionals.conversion')\n"
        "print([part for part in parts if f'dali_core.{part}' in sys.modules])\n"
        "from dali_core.batching import Bucket\n"
        "print('dali_core.batching.bucket' in sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout == "[]\nTrue\n"
