"""What machine the numbers come from."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0))


def processor_name() -> str:
    """Give the name of the processor."""
    information = Path("/proc/cpuinfo")
    found = (
        re.search(r"model name\s*:\s*(.+)", information.read_text())
        if information.exists()
        else None
    )
    return found[1].strip() if found else platform.machine()


def short_name() -> str:
    """Give a name of the machine that can be part of a file name."""
    words = re.sub(r"\((R|TM|tm|r)\)|\bCPU\b|\bProcessor\b|@.*", " ", processor_name()).lower()
    return "-".join([*re.findall(r"[a-z0-9]+", words), str(processors()), "processors"])


def describe() -> dict[str, str | int | float]:
    """Describe processor and system, and how busy the machine is with other work."""
    return {
        "processor": processor_name(),
        "processors": processors(),
        "system": f"{platform.system()} {platform.release()}",
        "load_average": round(os.getloadavg()[0], 2),
    }
