"""`Pipeline` and `pipeline_def`: graphs of operators, and the batches that they return."""

from __future__ import annotations

from dali_core._graph.node import DataNode as DataNode
from dali_core.pipeline import experimental as experimental
from dali_core.pipeline._definition import pipeline_def as pipeline_def
from dali_core.pipeline._pipeline import Pipeline as Pipeline
from dali_core.pipeline.conditionals.marks import do_not_convert as do_not_convert
from dali_core.pipeline.conditionals.marks import is_definition as is_definition
from dali_core.pipeline.mixing import mix_readers as mix_readers
from dali_core.pipeline.parameters import parameter as parameter
from dali_core.types import OperatorConcurrency as OperatorConcurrency
from dali_core.types import StreamPolicy as StreamPolicy
