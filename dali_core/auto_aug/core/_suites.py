"""Suites: the augmentations that a scheme chooses from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.errors import ArgumentTypeError, ArgumentValueError


def check_unused(
    where: str, augmentations: Iterable[Augmentation], keywords: Mapping[str, Any]
) -> None:
    """Refuse keywords that no augmentation takes."""
    listed = list(augmentations)
    taken = {name for one in listed for name in one.keywords}
    unused = [name for name in keywords if name not in taken]
    if unused:
        raise ArgumentTypeError(
            f"{where}: every argument must be taken by at least one augmentation (got "
            f"{', '.join(map(repr, unused))}, which {_names(listed)} do not take). They take: "
            f"{', '.join(sorted(taken)) or 'none'}. Leave the others out."
        )


def without_excluded(
    where: str, augmentations: list[Augmentation], excluded: Iterable[str] | None
) -> list[Augmentation]:
    """Return the augmentations but those of some names."""
    names = [one.name for one in augmentations]
    unwanted = list(excluded or ())
    for name in unwanted:
        if name not in names:
            raise ArgumentValueError(
                f"{where}: argument 'excluded' must be a list of names of augmentations of the "
                f"suite (got {name!r}). They are: {', '.join(names)}."
            )
    return [one for one in augmentations if one.name not in unwanted]


def _names(augmentations: list[Augmentation]) -> str:
    return ", ".join(sorted({one.name for one in augmentations}))
