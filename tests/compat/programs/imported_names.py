"""Imports what programs commonly import, and uses some of it."""

import nvidia.dali as dali
import nvidia.dali.backend_impl
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.pickling
import nvidia.dali.plugin_manager
import nvidia.dali.reducers
import nvidia.dali.sysconfig
import nvidia.dali.types as types
import numpy as np
from nvidia.dali import Pipeline, backend, data_node, newaxis, pipeline_def, tensors
from nvidia.dali.backend import CheckDLPackCapsule, TensorCPU, TensorListCPU
from nvidia.dali.data_node import DataNode
from nvidia.dali.external_source import ExternalSource, external_source
from nvidia.dali.pipeline import DataNode as NodeOfPipeline
from nvidia.dali.pipeline import do_not_convert, experimental
from nvidia.dali.pipeline.experimental import pipeline_def as experimental_definition
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.triton import autoserialize


def versions():
    major, minor = (int(part) for part in dali.__version__.split(".")[:2])
    print("version", dali.__version__, (major, minor) >= (0, 28), backend.GetNvjpegVersion())
    print("devices", backend.GetCUDADeviceCount())


def same_names():
    print(DataNode is NodeOfPipeline, data_node.DataNode is DataNode, dali.newaxis is newaxis)
    print(external_source is fn.external_source, ExternalSource is ops.ExternalSource)
    print(tensors.TensorCPU is TensorCPU, nvidia.dali.backend_impl.TensorListCPU is TensorListCPU)
    print(callable(do_not_convert), experimental.pipeline_def is experimental_definition)
    print(LastBatchPolicy.FILL.name, callable(nvidia.dali.reducers.DaliCallbackPickler))
    for module in (nvidia.dali.plugin_manager, nvidia.dali.sysconfig):
        print([name for name in ("load_library", "get_lib_dir") if hasattr(module, name)])


def single_things():
    print(CheckDLPackCapsule(np.zeros(3).__dlpack__()), CheckDLPackCapsule(3))
    print(types.CUDAStream(5).ptr, types.CUDAStream().ptr)
    backend.SetHostBufferGrowthFactor(1.5)
    print(backend.GetHostBufferGrowthFactor(), backend.GetHostBufferShrinkThreshold())

    @nvidia.dali.pickling.pickle_by_value
    def function(x):
        return x + 1

    print(function(1))
    for wrong in (3, len):
        try:
            nvidia.dali.pickling.pickle_by_value(wrong)
        except TypeError:
            print("no function")


def operators():
    print(ops.Flip().device, ops.Flip(device="gpu").device, ops.Flip(preserve=True).preserve)
    turn = ops.Compose([ops.Flip(horizontal=1), ops.Cast(dtype=types.INT32), ops.Flip(vertical=1)])
    crop = ops.ROIRandomCrop(crop_shape=[2, 2])
    pipeline = Pipeline(1, 1, None)
    with pipeline:
        image = fn.external_source(lambda: [np.arange(12, dtype=np.uint8).reshape(3, 4, 1)])
        image = fn.reshape(image, layout="HWC")
        corner = crop(roi_start=[1, 1], roi_shape=[2, 2])
        pipeline.set_outputs(turn(image), corner)
    turned, corner = pipeline.run()
    print(turned.dtype, *turned.as_array().ravel(), *corner.as_array().ravel())
    for wrong in (3, None):
        try:
            ops.Compose(wrong)
        except TypeError:
            print("no operators")


def definitions():
    @autoserialize
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def served():
        return fn.external_source(name="DALI_INPUT_0")

    @experimental_definition(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def decided():
        number = external_source(lambda: [np.int32(1), np.int32(2)])
        if number > 1:
            number = number * 10
        return number

    pipeline = served()
    pipeline.build()
    pipeline.feed_input("DALI_INPUT_0", [np.float32([1, 2])] * 2)
    pipeline.feed_input("DALI_INPUT_0", [np.float32([3, 4])] * 2)
    print("served", *pipeline.run()[0].as_array().ravel())
    print("decided", *decided().run()[0].as_array().ravel())
    try:
        autoserialize(lambda: None)
    except TypeError:
        print("no definition")


if __name__ == "__main__":
    versions()
    same_names()
    single_things()
    operators()
    definitions()
