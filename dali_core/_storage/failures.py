"""Error messages for objects that cannot be read."""

from __future__ import annotations

from dali_core._storage.odd_names import is_odd_name
from dali_core._storage.stores import first_line
from dali_core.errors import ArgumentValueError, MissingModuleError, OutOfMemoryError


def problem_of(url: str, error: BaseException) -> str:
    """Return the message for an object that cannot be read.

    Parameters
    ----------
    url : str
        The object, with its bucket.
    error : BaseException
        What the store raised.
    """
    if isinstance(error, (ArgumentValueError, MissingModuleError, OutOfMemoryError)):
        return str(error)
    kind = type(error).__name__
    if isinstance(error, FileNotFoundError):
        reason, advice = "there is no such object", "Check bucket and name"
    elif isinstance(error, PermissionError) or kind in (
        "PermissionDeniedError",
        "UnauthenticatedError",
    ):
        reason, advice = f"access is denied: {first_line(error)}", "Check the credentials"
    elif is_odd_name(error):
        # The server's names may have anything in them.
        reason = first_line(error).encode("unicode_escape").decode("ascii")
        advice = (
            "Rename or remove the object of this name, or install boto3, which lists buckets of S3 "
            "with such names; their objects are left out"
        )
    else:
        reason = first_line(error)
        advice = "Check the network and the server, or raise deadline in storage_options"
    return f"the object must be readable (got {url!r}: {reason}). {advice}."
