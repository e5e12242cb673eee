"""Readers."""

import os

import numpy as np

from dali_core import fn, types
from dali_core.tensors import TensorListGPU
from tests.cuda import video_codec
from tests.cuda.programs.pipeline_streams.pipelines import made


def frames(reader, names, device, batches=2, **options):
    settings = {"seed": 7, "device_id": 0 if device == "gpu" else None} | options
    pipeline = made(lambda: outputs(reader(names), device), **settings)
    found = []
    for _ in range(batches):
        for number, output in enumerate(pipeline.run()):
            batch = output
            if device == "gpu":
                assert isinstance(output, TensorListGPU)
                batch = output.as_cpu()
            assert number or (batch.layout() == "FHWC" and batch.dtype == types.UINT8)
            found.append([np.array(sample) for sample in batch])
    return found


def outputs(make, device):
    results = make(device)
    return results if isinstance(results, list) else [results]


def compare(reader, names, **options):
    # Gives the names of the files whose surfaces were used.
    from dali_core.operators.video.surfaces import step

    used = set()
    decode = step.DecodeFramesStep._decode

    def note(self, path, *others):
        result = decode(self, path, *others)
        if result.__cuda_array_interface__["shape"][0]:
            used.add(os.path.basename(path))
        return result

    video_codec.decoded.clear()
    expected = frames(reader, names, "cpu", **options)
    assert not video_codec.decoded
    step.DecodeFramesStep._decode = note
    found = frames(reader, names, "gpu", **options)
    step.DecodeFramesStep._decode = decode
    for one, other in zip(found, expected, strict=True):
        for mine, wanted in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, wanted, strict=True)
    return used


def clips(**arguments):
    def reader(names):
        def make(device):
            return fn.readers.video(
                filenames=names, device=device, **({"sequence_length": 4} | arguments)
            )

        return make

    return reader


def sequences(**arguments):
    def reader(names):
        def make(device):
            return fn.experimental.readers.video(
                filenames=names, device=device, **({"sequence_length": 4} | arguments)
            )

        return make

    return reader
