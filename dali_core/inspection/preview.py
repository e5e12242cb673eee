"""`Preview`: what the steps of a pipeline make of some samples, to look at."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import SupportsIndex

from dali_core._atomic_files import write_whole
from dali_core._execution.single_sample import Inspected
from dali_core.errors import ArgumentTypeError, SampleIndexError
from dali_core.inspection.contact_sheet import contact_sheet
from dali_core.inspection.rendering import render
from dali_core.inspection.samples import InspectedSample, inspect_sample


class Preview:
    """Samples with what each step made of them; a notebook shows it as pictures.

    Parameters
    ----------
    samples : sequence of InspectedSample
        The samples.

    Attributes
    ----------
    samples : tuple of InspectedSample
        The samples.
    """

    def __init__(self, samples: Sequence[InspectedSample]) -> None:
        self.samples = tuple(samples)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a page that contains everything, or one large picture.

        Parameters
        ----------
        path : path
            File to write, which is replaced in one step: PNG if the name ends in ``.png``,
            otherwise HTML.

        Raises
        ------
        MissingModuleError
            If a package of the extra `report` is not installed.
        """
        if os.fspath(path).lower().endswith(".png"):
            write_whole(path, contact_sheet(self.samples))
        else:
            write_page(path, render("preview.html", self.samples, title="Samples of a pipeline"))

    def _repr_html_(self) -> str:
        """Return HTML for a notebook."""
        return render("fragment.html", self.samples)

    def __repr__(self) -> str:
        return f"Preview({len(self.samples)} samples)"

    def __str__(self) -> str:
        return "\n".join(map(str, self.samples))


def write_page(path: str | os.PathLike[str], text: str) -> None:
    """Write HTML; names of files may have bytes that are no text."""
    write_whole(path, text.encode("utf-8", "backslashreplace"))


def inspect_samples(
    inspected: Inspected,
    samples: int | Sequence[int],
    epoch: int,
    boxes: Mapping[str, str] | None = None,
) -> list[InspectedSample]:
    """Make the first few samples of an epoch, fewer if it has no more; or those of some numbers."""
    is_count = isinstance(samples, SupportsIndex)
    if isinstance(samples, (bool, str)) or not (is_count or isinstance(samples, Sequence)):
        raise ArgumentTypeError(
            "Pipeline.show: samples must be how many to show, or a list of their numbers (got "
            f"{samples!r})."
        )
    found: list[InspectedSample] = []
    for index in range(samples) if isinstance(samples, SupportsIndex) else samples:
        try:
            found.append(inspect_sample(inspected, index, epoch, boxes=boxes))
        except SampleIndexError:
            if not (is_count and found):
                raise
            break
    return found
