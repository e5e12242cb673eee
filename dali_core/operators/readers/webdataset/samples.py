"""Divides the files of a tar archive into samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from dali_core._storage import Storage
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.archive_index import ArchiveIndex

_VERSIONS = {"v1.1": 3, "v1.2": 4}
"""Versions of index files, and the number of words for each component."""


class Component(NamedTuple):
    """A file of a sample: what follows the first dot of its name, and where it is."""

    extension: str
    offset: int
    size: int
    name: str


@dataclass
class ArchiveSample:
    """Files that belong together, and what is wrong with them, if they cannot be used."""

    components: list[Component] = field(default_factory=list)
    problem: str = ""


def samples_of(index: ArchiveIndex) -> list[ArchiveSample]:
    """Divide an archive into samples: files in a row whose paths agree up to the first dot.

    Files whose names begin with a dot are left out. Where the archive is damaged, it is
    unknown which files are lost: the samples before and after it are bad.
    """
    samples: list[ArchiveSample] = []
    current = None
    damage = ""
    for number, name in enumerate(index.names):
        problem = index.problems.get(number, "")
        if not name:
            if samples:
                samples[-1].problem = samples[-1].problem or problem
            damage = problem
            continue
        folder, _, last = name.rpartition("/")
        if last.startswith("."):
            continue
        stem, _, extension = last.partition(".")
        if not samples or (folder, stem) != current:
            samples.append(ArchiveSample(problem=damage))
            damage = ""
        current = folder, stem
        sample = samples[-1]
        if damage:
            sample.problem, damage = sample.problem or damage, ""
        place = Component(extension or last, index.offsets[number], index.sizes[number], name)
        sample.components.append(place)
        if problem:
            sample.problem = sample.problem or f"{name!r} {problem}"
    if damage and not samples:
        samples.append(ArchiveSample(problem=damage))
    return samples


def read_index_file(path: str, storage: Storage) -> list[ArchiveSample]:
    """Read the index file of an archive.

    Its first line is ``v1.2`` and the number of samples. Each other line has, for every file of a
    sample, its extension, offset, size and name. Version ``v1.1`` has no names.

    Raises
    ------
    ArgumentValueError
        If it cannot be read, or is no such file.
    """
    try:
        with storage.open_text(path) as file:
            version, *count = file.readline().split()[:3] or [""]
            words_each = _VERSIONS.get(version)
            if words_each is None or len(count) != 1 or not count[0].isdecimal():
                raise _bad(path, 1, "v1.2 and the number of samples")
            samples = [
                ArchiveSample(_components(line.split(), words_each, path, number))
                for number, line in enumerate(file, 2)
            ]
    except OSError as error:
        raise ArgumentValueError(
            f"index_paths must be readable files (got {path!r}: {error.strerror})."
        ) from error
    if len(samples) != int(count[0]):
        raise _bad(path, 1, f"the number of lines that follow, {len(samples)}")
    return samples


def write_index_file(samples: list[ArchiveSample]) -> str:
    """Return the text of an index file, see `read_index_file`.

    Raises
    ------
    ArgumentValueError
        If an extension has white space, which index files cannot express.
    """
    components = [place for sample in samples for place in sample.components]
    # Words are divided by white space, and names with it fit into no version.
    version = "v1.1" if any(place.name.split() != [place.name] for place in components) else "v1.2"
    lines = [f"{version} {len(samples)}"]
    for sample in samples:
        words = []
        for place in sample.components:
            if place.extension.split() != [place.extension]:
                raise ArgumentValueError(
                    f"extensions must be without white space (got that of {place.name!r}). Rename "
                    "the file, or read the archive without an index file."
                )
            name = [place.name] if version == "v1.2" else []
            words += [place.extension, str(place.offset), str(place.size), *name]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def _components(words: list[str], words_each: int, path: str, number: int) -> list[Component]:
    if not words or len(words) % words_each:
        raise _bad(path, number, f"{words_each} words for each file of a sample")
    found = []
    for start in range(0, len(words), words_each):
        extension, offset, size, *name = words[start : start + words_each]
        if not all(number.isdecimal() and len(number) < 19 for number in (offset, size)):
            raise _bad(path, number, "the extension, offset and size of each file")
        found.append(Component(extension, int(offset), int(size), name[0] if name else ""))
    return found


def _bad(path: str, number: int, rule: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"index_paths: line {number} of {path!r} must be {rule} (it is not). Write the index again "
        "with python -m dali_core index wds, or leave it out."
    )
