"""`if`, `and`, `or` and `not` on data, in functions that define pipelines."""

from __future__ import annotations

from dali_core.pipeline.conditionals.conversion import convert_called as convert_called
from dali_core.pipeline.conditionals.conversion import convert_definition as convert_definition
from dali_core.pipeline.conditionals.conversion import do_not_convert as do_not_convert
from dali_core.pipeline.conditionals.conversion import is_definition as is_definition
from dali_core.pipeline.conditionals.conversion import is_unconverted as is_unconverted
from dali_core.pipeline.conditionals.conversion import mark_definition as mark_definition
from dali_core.pipeline.conditionals.runtime import if_expression as if_expression
