"""`Policy`: sequences of augmentations, of which AutoAugment applies one to each sample."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, TypeAlias

from dali_core._call.location import warn_user
from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.auto_aug.core._checks import check_bins, is_integer
from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError

Step: TypeAlias = "tuple[Augmentation, float, int | None]"
SubPolicy: TypeAlias = "tuple[Step, ...]"


class Policy:
    """Sequences of augmentations, with probabilities and magnitude bins.

    Augmentations that share a name but are different objects get numbered names, as do all others
    of the policy then: ``"0__rotate"``, ``"1__rotate"``.

    Parameters
    ----------
    name : str
        Name of the policy.
    num_magnitude_bins : int
        How many magnitudes the ranges of the augmentations are divided into.
    sub_policies : sequence of sequence of (Augmentation, float, int or None)
        The sequences. A step is an augmentation, the probability that it is applied, and its
        magnitude bin; None for augmentations without a range of magnitudes.

    Raises
    ------
    ArgumentTypeError, ArgumentFormError
        If something is no sequence, no triple or no augmentation.
    ArgumentValueError
        If a probability, a bin or the number of bins is impossible, or a bin is missing.
    """

    def __init__(
        self,
        name: str,
        num_magnitude_bins: int,
        sub_policies: Sequence[Sequence[tuple[Augmentation, float, int | None]]],
    ) -> None:
        self._where = f"Policy {name!r}"
        check_bins(self._where, num_magnitude_bins)
        if not isinstance(sub_policies, (list, tuple)):
            raise ArgumentTypeError(
                f"{self._where}: argument 'sub_policies' must be a list of lists of triples (got "
                f"{sub_policies!r}). Pass [[(augmentation, probability, bin), ...], ...]."
            )
        self.name = name
        self.num_magnitude_bins = num_magnitude_bins
        checked = tuple(self._checked(sub_policy) for sub_policy in sub_policies)
        self.sub_policies: tuple[SubPolicy, ...] = _with_unique_names(checked)

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """All augmentations by name, in the order of the names."""
        found = {step[0].name: step[0] for steps in self.sub_policies for step in steps}
        return dict(sorted(found.items()))

    def __repr__(self) -> str:
        rows = [
            "[" + ", ".join(f"({one.name!r}, {chance}, {number})" for one, chance, number in steps)
            for steps in self.sub_policies
        ]
        lines = ",".join(f"\n\t{row}]" for row in rows)
        named = ",".join(f"\n\t{name!r}: {one!r}" for name, one in self.augmentations.items())
        return (
            f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, "
            f"sub_policies=[{lines}], augmentations={{{named}}})"
        )

    def _checked(self, sub_policy: Any) -> SubPolicy:
        if not isinstance(sub_policy, (list, tuple)):
            raise ArgumentTypeError(
                f"{self._where}: a sub-policy must be a list of triples (got {sub_policy!r}). Pass "
                "[(augmentation, probability, bin), ...]."
            )
        return tuple(self._checked_step(step) for step in sub_policy)

    def _checked_step(self, step: Any) -> Step:
        if not isinstance(step, (list, tuple)) or len(step) != 3:
            raise ArgumentFormError(
                f"{self._where}: a step must be an augmentation, a probability and a magnitude bin "
                f"(got {step!r}). Pass (augmentation, probability, bin), with None for no bin."
            )
        one, chance, number = step
        if not isinstance(one, Augmentation):
            raise ArgumentTypeError(
                f"{self._where}: a step must begin with an augmentation (got {one!r}). Decorate "
                "the function with @augmentation."
            )
        what = f"{self._where}, augmentation {one.name!r}"
        if not isinstance(chance, numbers.Real) or not 0 <= float(chance) <= 1:
            raise ArgumentValueError(
                f"{what}: the probability must be a number from 0 to 1 (got {chance!r}). Pass one."
            )
        if chance == 0:
            warn_user(f"{what}: is never applied, since its probability is 0.", UserWarning)
        bins = f"an integer from 0 to {self.num_magnitude_bins - 1}"
        if number is None:
            if one.mag_range is not None:
                raise ArgumentValueError(
                    f"{what}: the magnitude bin must be given, since the augmentation has a range "
                    f"of magnitudes (got None). Pass {bins}."
                )
        elif not is_integer(number) or not 0 <= number < self.num_magnitude_bins:
            raise ArgumentValueError(
                f"{what}: the magnitude bin must be {bins} (got {number!r}). Pass one."
            )
        elif one.mag_range is None:
            warn_user(
                f"{what}: the magnitude bin {number} is ignored, since the augmentation has no "
                "range of magnitudes. Pass None.",
                UserWarning,
            )
        return one, chance, number  # type: ignore[return-value]


def _with_unique_names(sub_policies: tuple[SubPolicy, ...]) -> tuple[SubPolicy, ...]:
    distinct = {id(step[0]): step[0] for steps in sub_policies for step in steps}
    if len({one.name for one in distinct.values()}) == len(distinct):
        return sub_policies
    digits = len(str(len(distinct) - 1))
    renamed = {
        key: one.augmentation(name=f"{number:0{digits}}__{one.name}")
        for number, (key, one) in enumerate(distinct.items())
    }
    return tuple(
        tuple((renamed[id(one)], chance, number) for one, chance, number in steps)
        for steps in sub_policies
    )
