"""`nvidia.dali.auto_aug.core._args`: checks of arguments, for suites of programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dali_core.auto_aug.core import _Augmentation
from dali_core.auto_aug.core._suites import check_unused
from dali_core.errors import ArgumentTypeError

MissingArgException = UnusedArgException = ArgumentTypeError


def filter_unused_args(
    augmentations: Iterable[_Augmentation], kwargs: Mapping[str, Any]
) -> list[str]:
    """Return the names that no augmentation takes."""
    taken = {name for one in augmentations for name in one.keywords}
    return [name for name in kwargs if name not in taken]


def forbid_unused_kwargs(
    augmentations: Iterable[_Augmentation], kwargs: Mapping[str, Any], call_name: str
) -> None:
    """Refuse names that no augmentation takes."""
    check_unused(call_name, augmentations, kwargs)
