"""Lists the samples of tar archives, and which of their files go to which output."""

from __future__ import annotations

import warnings
from typing import Any

from dali_core import _types as types
from dali_core._readers.record_table import RecordTable
from dali_core._storage import Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.archive_index import BEHIND_THE_END, open_indices
from dali_core.operators.readers.webdataset.record_format import FORMAT
from dali_core.operators.readers.webdataset.samples import (
    ArchiveSample,
    Component,
    read_index_file,
    samples_of,
)

BEHAVIORS = ("empty", "skip", "error")


def open_webdataset(arguments: dict[str, Any], storage: Storage) -> RecordTable:
    """List what the arguments of `fn.readers.webdataset` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or there are no samples.
    """
    paths, index_paths = arguments["paths"], arguments.get("index_paths") or []
    if index_paths and len(index_paths) != len(paths):
        raise ArgumentTypeError(
            f"index_paths must have an entry for each of the {len(paths)} paths (got "
            f"{len(index_paths)})."
        )
    behavior = arguments["missing_component_behavior"].lower() or BEHAVIORS[0]
    if behavior not in BEHAVIORS:
        raise ArgumentValueError(
            f"missing_component_behavior must be one of {', '.join(map(repr, BEHAVIORS))} (got "
            f"{arguments['missing_component_behavior']!r})."
        )
    dtypes = arguments.get("dtypes") or [types.UINT8] * len(arguments["ext"])
    if len(dtypes) != len(arguments["ext"]):
        raise ArgumentTypeError(
            f"dtypes must have an entry for each of the {len(arguments['ext'])} outputs (got "
            f"{len(dtypes)})."
        )
    if types.BOOL in dtypes:
        raise ArgumentValueError(
            "dtypes must be numbers (got BOOL, of which most bytes are no values). Use UINT8."
        )
    paths = storage.checked(paths)
    if index_paths:
        archives = [read_index_file(path, storage) for path in storage.checked(index_paths)]
    else:
        indices = open_indices(paths, FORMAT, storage)
        archives = [samples_of(index) for index in indices]
        for path, index in zip(paths, indices, strict=True):
            if BEHIND_THE_END in index.problems:
                problem = f"{path!r}: {index.problems[BEHIND_THE_END]}"
                warnings.warn(problem, UserWarning, stacklevel=2)
    choose = _Chooser(arguments["ext"], arguments["case_sensitive_extensions"])
    listing = RecordTable(paths, len(arguments["ext"]), own={"names": []})
    for number, samples in enumerate(archives):
        for sample in samples:
            _add(listing, number, sample, choose, behavior)
    if not len(listing):
        skipped = ", none of which has all components" if any(archives) else ""
        raise ArgumentValueError(
            f"paths must be archives with at least one sample (got {sum(map(len, archives))}"
            f"{skipped}). Check ext and missing_component_behavior."
        )
    choose.warn()
    return listing


class _Chooser:
    """Finds the file of a sample for each output."""

    def __init__(self, extensions: list[str], is_case_sensitive: bool) -> None:
        self._is_case_sensitive = is_case_sensitive
        self._num_outputs = len(extensions)
        self._outputs: dict[str, list[int]] = {}
        self._repeated = ""
        for number, alternatives in enumerate(extensions):
            for extension in filter(None, self._known(alternatives).split(";")):
                self._outputs.setdefault(extension, []).append(number)

    def __call__(self, sample: ArchiveSample) -> list[Component | None]:
        chosen: list[Component | None] = [None] * self._num_outputs
        for component in sample.components:
            for number in self._outputs.get(self._known(component.extension), ()):
                if chosen[number] is None:
                    chosen[number] = component
                else:
                    self._repeated = self._repeated or component.name or component.extension
        return chosen

    def warn(self) -> None:
        """Warn of samples with several files for one output."""
        if self._repeated:
            warnings.warn(
                f"Some samples have several files for one output (such as {self._repeated!r}): the "
                "first is read.",
                UserWarning,
                stacklevel=2,
            )

    def _known(self, extension: str) -> str:
        return extension if self._is_case_sensitive else extension.lower()


def _add(
    listing: RecordTable, file: int, sample: ArchiveSample, choose: _Chooser, behavior: str
) -> None:
    chosen = choose(sample)
    problem = sample.problem
    is_complete = None not in chosen
    if not is_complete and not problem:
        if behavior == "skip":
            return
        if behavior == "error":
            problem = (
                "the sample must have a file for each output (it has none for output "
                f"{chosen.index(None)}). Pack it again, or choose another "
                "missing_component_behavior."
            )
    first = sample.components[0] if sample.components else None
    listing.own["names"].append(f"{first.offset}:{first.name}" if first else "")
    listing.extend(
        file,
        [component.offset if component else 0 for component in chosen],
        [component.size if component else -1 for component in chosen],
        {0: problem} if problem else {},
    )
