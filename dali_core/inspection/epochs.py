"""One sample over several epochs: what its random augmentations look like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dali_core._execution.single_sample import Inspected
from dali_core._readers.order import IndexSampler
from dali_core.errors import DaliCoreError
from dali_core.inspection.kinds import Kind, kind_of
from dali_core.inspection.panels import Picture, panels_of
from dali_core.inspection.samples import InspectedSample, inspect_sample

NUM_EPOCHS = 8
_MOST_SEARCHED = 64
_LARGEST_ORDER = 10_000_000
_PICTURES = (Kind.IMAGE, Kind.SEQUENCE, Kind.MAP, Kind.WAVEFORM)


@dataclass(frozen=True)
class EpochStrip:
    """Pictures of one output for the same sample of the data set.

    Attributes
    ----------
    source : str
        File of the sample; empty if it is not known.
    name : str
        Name of the output.
    epochs : tuple of int
        The epochs.
    pictures : tuple of Picture
        One for each epoch.
    is_constant : bool
        Whether they are all the same.
    """

    source: str
    name: str
    epochs: tuple[int, ...]
    pictures: tuple[Picture, ...]
    is_constant: bool


def epoch_strip(inspected: Inspected, index: int = 0) -> EpochStrip | None:
    """Make a sample of the first epoch as it is in this and in later ones.

    Parameters
    ----------
    inspected : Inspected
        The pipeline.
    index : int
        Number of the sample in the order of the first epoch.

    Returns
    -------
    EpochStrip or None
        None where no reader says which sample of the data set is read, where no output is a
        picture, and where the sample is bad.
    """
    reader = next(iter(inspected.readers.values()), None)
    if reader is None or reader.part is not None or reader.plan.num_samples > _LARGEST_ORDER:
        return None
    samples: list[InspectedSample] = []
    try:
        for epoch, number in _places(reader, index):
            samples.append(inspect_sample(inspected, number, epoch))
            if samples[-1].error is not None:
                return None
            if len(samples) == NUM_EPOCHS:
                break
    except DaliCoreError:  # a source that gives no samples by their numbers
        return None
    found = [_picture(sample) for sample in samples]
    shown = [entry for entry in found if entry is not None]
    if not shown or len(shown) < len(found):
        return None
    pictures = tuple(picture for _, picture in shown)
    return EpochStrip(
        samples[0].source,
        shown[0][0],
        tuple(sample.epoch for sample in samples),
        pictures,
        all(np.array_equal(picture.image, pictures[0].image) for picture in pictures),
    )


def _places(reader: IndexSampler, index: int) -> Iterator[tuple[int, int]]:
    """Find a sample of the data set in the epochs that have it in this shard."""
    wanted = None
    for epoch in range(_MOST_SEARCHED):
        indices, positions = reader.indices(epoch), reader.plan.shard_range(epoch)
        if wanted is None:
            wanted = indices[positions[index]]
        for position in np.flatnonzero(indices == wanted).tolist():
            if position in positions:
                yield epoch, positions.index(position)
                break


def _picture(sample: InspectedSample) -> tuple[str, Picture] | None:
    """Return the first output that is a picture, and its first frame."""
    for entry in panels_of(sample):
        for panel in entry.panels:
            if panel.value.outputs and panel.pictures and kind_of(panel.value) in _PICTURES:
                return panel.value.name, panel.pictures[0]
    return None
