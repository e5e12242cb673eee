"""The imperative API: operators as plain calls on tensors and batches.

Results are computed when they are needed, together with all that they depend on, by the same fused
programs as those of pipelines::

    import dali_core.dynamic as dd

    reader = dd.readers.File(file_root="photos", random_shuffle=True)
    for jpegs, labels in reader.next_epoch(batch_size=64):
        images = dd.decoders.image_random_crop(jpegs)
        images = dd.resize(images, size=(224, 224))
        train(images.torch(), labels.torch())
"""

from dali_core.dynamic import capture as capture
from dali_core.dynamic import checkpoint as checkpoint
from dali_core.dynamic import math as math
from dali_core.dynamic import pytorch as pytorch
from dali_core.dynamic import random as random
from dali_core.dynamic._batches import Batch as Batch
from dali_core.dynamic._constructors import as_batch as as_batch
from dali_core.dynamic._constructors import as_tensor as as_tensor
from dali_core.dynamic._constructors import batch as batch
from dali_core.dynamic._constructors import tensor as tensor
from dali_core.dynamic._context import EvalContext as EvalContext
from dali_core.dynamic._context import EvalMode as EvalMode
from dali_core.dynamic._context import ThreadPool as ThreadPool
from dali_core.dynamic._context import get_num_threads as get_num_threads
from dali_core.dynamic._context import set_num_threads as set_num_threads
from dali_core.dynamic._devices import Device as Device
from dali_core.dynamic._devices import device as device
from dali_core.dynamic._dtypes import DataType as DataType
from dali_core.dynamic._dtypes import DType as DType
from dali_core.dynamic._dtypes import ImageType as ImageType
from dali_core.dynamic._dtypes import InterpType as InterpType
from dali_core.dynamic._dtypes import bool as bool
from dali_core.dynamic._dtypes import dtype as dtype
from dali_core.dynamic._dtypes import float16 as float16
from dali_core.dynamic._dtypes import float32 as float32
from dali_core.dynamic._dtypes import float64 as float64
from dali_core.dynamic._dtypes import int8 as int8
from dali_core.dynamic._dtypes import int16 as int16
from dali_core.dynamic._dtypes import int32 as int32
from dali_core.dynamic._dtypes import int64 as int64
from dali_core.dynamic._dtypes import type_id as type_id
from dali_core.dynamic._dtypes import uint8 as uint8
from dali_core.dynamic._dtypes import uint16 as uint16
from dali_core.dynamic._dtypes import uint32 as uint32
from dali_core.dynamic._dtypes import uint64 as uint64
from dali_core.dynamic._files import imread as imread
from dali_core.dynamic._functions import fill as _fill
from dali_core.dynamic._sources import ExternalSource as ExternalSource
from dali_core.dynamic._streams import Stream as Stream
from dali_core.dynamic._streams import get_current_stream as get_current_stream
from dali_core.dynamic._streams import get_default_stream as get_default_stream
from dali_core.dynamic._streams import set_current_stream as set_current_stream
from dali_core.dynamic._streams import set_default_stream as set_default_stream
from dali_core.dynamic._streams import stream as stream
from dali_core.dynamic._tensors import Tensor as Tensor

_fill(globals(), __name__)
