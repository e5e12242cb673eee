"""Features that `fn.readers.tfrecord` reads."""

from __future__ import annotations

from dali_core.operators.readers.tfrecord.features import Feature as Feature
from dali_core.operators.readers.tfrecord.features import FixedLenFeature as FixedLenFeature
from dali_core.operators.readers.tfrecord.features import (
    FixedLenSequenceFeature as FixedLenSequenceFeature,
)
from dali_core.operators.readers.tfrecord.features import VarLenFeature as VarLenFeature
from dali_core.operators.readers.tfrecord.features import float32 as float32
from dali_core.operators.readers.tfrecord.features import int64 as int64
from dali_core.operators.readers.tfrecord.features import string as string
