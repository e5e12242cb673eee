"""Description of the machine that is measured."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def processor_name() -> str:
    """Return the name of the processor."""
    information = Path("/proc/cpuinfo")
    found = (
        re.search(r"model name\s*:\s*(.+)", information.read_text())
        if information.exists()
        else None
    )
    return found[1].strip() if found else platform.machine()


def short_name() -> str:
    """Return a name of the machine for use in a file name."""
    words = re.sub(r"\((R|TM|tm|r)\)|\bCPU\b|\bProcessor\b|@.*", " ", processor_name()).lower()
    return "-".join([*re.findall(r"[a-z0-9]+", words), str(processors()), "processors"])


def describe() -> dict[str, str | int | float]:
    """Return the processor, the system, and the load of the machine."""
    return {
        "processor": processor_name(),
        "processors": processors(),
        "system": f"{platform.system()} {platform.release()}",
        "load_average": round(os.getloadavg()[0], 2),
    }
