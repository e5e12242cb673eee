"""Commands that install the optional dependencies of this library."""

from __future__ import annotations

import json

_NAME = "dali_core"


def install_command(extra: str, package: str = _NAME) -> str:
    """Return the command that installs what an extra of a package needs.

    The library is on no index. If it was installed from a folder, or is imported from one, the
    command is for that folder. If it was installed from a wheel, pip finds that it is installed,
    and adds what the extra needs.

    Parameters
    ----------
    extra : str
        Name of the extra, such as ``"audio"``.
    package : str
        Distribution that defines it.
    """
    target = "." if package == _NAME and _is_from_folder() else package
    return f'pip install "{target}[{extra}]"'


def _is_from_folder() -> bool:
    """Return whether the library was installed from a folder, or is not installed (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution  # slow to import

    try:
        origin = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return True
    return origin is not None and "dir_info" in json.loads(origin)
