"""Results of a pipeline's steps: `Pipeline.run_sample`, `Pipeline.show`, `Pipeline.report`."""

from __future__ import annotations

from dali_core.inspection.images import images_of as images_of
from dali_core.inspection.preview import Preview as Preview
from dali_core.inspection.report import Report as Report
from dali_core.inspection.samples import InspectedSample as InspectedSample
from dali_core.inspection.samples import SampleStep as SampleStep
from dali_core.inspection.samples import StepValue as StepValue
