"""Datasets of Hugging Face are read as the Arrow tables that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.arrow import ArrowSource
from dali_core.errors import ArgumentTypeError
from tests.generated_images import photo_like

datasets = pytest.importorskip("datasets", reason="not available: datasets")
PIL_Image = pytest.importorskip("PIL.Image", reason="not available: Pillow")


def dataset() -> Any:
    photos = [PIL_Image.fromarray(photo_like(20 + i, 30, seed=i)) for i in range(12)]
    kinds = {"image": datasets.Image(), "label": datasets.ClassLabel(num_classes=12)}
    columns = {"image": photos, "label": list(range(12))}
    return datasets.Dataset.from_dict(columns, features=datasets.Features(kinds))


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows,
        lambda rows: rows.shuffle(seed=3),
        lambda rows: rows.select([7, 2, 9, 2]),
        lambda rows: rows.shard(3, 1),
        lambda rows: datasets.concatenate_datasets([rows.select([1]), rows.select([5, 4])]),
        lambda rows: rows.with_format("numpy"),
    ],
    ids=["all", "shuffled", "selected", "shard", "joined", "with a format"],
)
def test_rows_are_those_of_the_dataset(change: Callable[[Any], Any]) -> None:
    rows = change(dataset())
    pipeline = Pipeline(len(rows), 2, None)
    with pipeline:
        source = ArrowSource(rows, ["image", "label"])
        encoded, label = fn.readers.python(source, num_outputs=2)
        pipeline.set_outputs(fn.decoders.image(encoded), label)
    images, labels = pipeline.run()
    expected = rows.with_format(None)
    for number in range(len(rows)):
        row = expected[number]
        np.testing.assert_array_equal(images.at(number), np.asarray(row["image"]))
        assert labels.at(number) == row["label"]
    pipeline.close()


def test_one_of_several_must_be_chosen() -> None:
    several = datasets.DatasetDict({"train": dataset()})
    for wrong in (several, [1, 2], object()):
        with pytest.raises(ArgumentTypeError, match=r"must be a pyarrow\.Table or a datasets"):
            ArrowSource(wrong, ["image"])
