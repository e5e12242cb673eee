"""Manually scheduled batches, shared outputs; tensors from and to NumPy."""

import tempfile
from pathlib import Path

import numpy as np

import nvidia.dali as dali
from nvidia.dali import backend, fn, types
from nvidia.dali.backend import TensorCPU, TensorListCPU
from nvidia.dali.data_node import DataNode


def write_files(folder):
    for label, name in enumerate(["a", "b"]):
        (folder / name).mkdir()
        for number in range(3):
            (folder / name / f"{number}.bin").write_bytes(bytes(range(label, label + 4 + number)))


def make_pipeline(folder):
    pipe = dali.Pipeline(batch_size=4, num_threads=2, device_id=None, prefetch_queue_depth=1)
    with pipe:
        assert dali.Pipeline.current() is pipe
        data, labels = fn.readers.file(
            file_root=folder, file_filters=["*.bin"], name="files", pad_last_batch=True
        )
        fed = fn.external_source(name="fed", layout="HW")
        assert isinstance(fed, DataNode)
        turned = fn.transpose(fed, perm=[1, 0])
        pipe.set_outputs(data, labels, fed, turned)
    pipe.build()
    return pipe


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        pipe = make_pipeline(folder)
        print("epoch", pipe.epoch_size("files"), pipe.reader_meta("files")["epoch_size_padded"])
        for number in range(3):
            pipe.feed_input("fed", [np.full((2, 3 + i), number, np.int16) for i in range(4)])
            pipe.schedule_run()
            data, labels, fed, turned = pipe.share_outputs()
            print("labels", *labels.as_array().ravel(), labels.is_dense_tensor())
            print("lengths", *(len(np.array(data.at(i))) for i in range(len(data))))
            print("sums", *(int(np.array(data.at(i)).sum()) for i in range(len(data))))
            print("fed", fed.layout(), turned.layout(), fed.shape(), turned.shape())
            print("values", *(int(np.array(sample).sum()) for sample in turned))
            pipe.release_outputs()
        pipe.feed_input("fed", np.full((4, 2, 2), 10, np.int16))
        pipe.schedule_run()
        print("whole", pipe.outputs()[2].as_array().sum())

    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    batch = TensorListCPU(array, layout="CW")
    print("batch", len(batch), batch.layout(), batch.shape(), batch.dtype == types.FLOAT)
    print("first", np.array(batch[0]).sum(), batch.as_tensor().shape(), batch.is_dense_tensor())
    print("reshaped", np.array(batch.as_reshaped_tensor([4, 6])).sum(axis=1))
    tensor = TensorCPU(np.ones((1, 5, 1), np.uint8), layout="HWC")
    print("tensor", tensor.shape(), tensor.layout(), tensor.dtype == types.UINT8)
    tensor.squeeze()
    print("squeezed", tensor.shape(), np.array(tensor))
    same = TensorCPU(tensor.__array_interface__ and np.array(tensor))
    print("same", same.shape(), backend.TensorCPU is TensorCPU)


if __name__ == "__main__":
    main()
