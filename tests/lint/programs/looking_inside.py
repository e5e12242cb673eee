"""Looking at what the steps of a pipeline make, with strict types."""

# mypy: warn-unreachable

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import Pipeline, errors, fn
from dali_core.inspection import InspectedSample, Preview, Report, SampleStep, StepValue
from dali_core.monitoring import Monitor
from dali_core.types import SampleInfo


def image_of(info: SampleInfo) -> NDArray[np.uint8]:
    """Return an image of one color; there are four."""
    if info.idx_in_epoch >= 4:
        raise StopIteration
    return np.full((20, 30, 3), info.idx_in_epoch, np.uint8)


with Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1) as pipeline:
    image = fn.external_source(source=image_of, batch=False, layout="HWC", name="image")
    pipeline.set_outputs(fn.flip(image, name="flipped"))

sample: InspectedSample = pipeline.run_sample(1, epoch=0)
step: SampleStep = sample["flipped"]
value: StepValue = step.values[0]
arrays: tuple[NDArray[Any], ...] = step.arrays
outputs: tuple[NDArray[Any] | None, ...] = sample.outputs
error: errors.SampleError | None = sample.error
assert (value.layout, arrays[0].shape, error) == ("HWC", (20, 30, 3), None)
given: InspectedSample = pipeline.run_sample(0, inputs={"image": np.zeros((4, 4, 3), np.uint8)})
assert list(given) == ["image", "flipped"]
try:
    pipeline.run_sample(4)
except errors.SampleIndexError as missing:
    message: str = str(missing)

preview: Preview = pipeline.show(samples=2, boxes={})
chosen: Preview = pipeline.show(samples=[3, 0], epoch=0)
assert [entry.index for entry in chosen.samples] == [3, 0]
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    preview.save(folder / "samples.html")
    preview.save(folder / "samples.png")
    report: Report = pipeline.report(folder / "report.html", samples=1)
    assert report.path == folder / "report.html"
    assert len(list(folder.iterdir())) == 3

shown = io.StringIO()
with pipeline.monitor(interval=60.0, file=shown) as monitor:
    running: Monitor = monitor
    pipeline.run()
    monitor.print("a line")
assert shown.getvalue().startswith("a line\n")
