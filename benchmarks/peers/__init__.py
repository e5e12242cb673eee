"""The loaders that are compared, one module each.

Every module has the same three names:

``PIPELINES``
    The names of the pipelines that it can run.
``versions()``
    The version of each package that matters to the measurement.
``open_batches(pipeline, files, threads, batch_size)``
    An endless iterator over the batches of a pipeline. It gives the number of samples of each
    batch.

A peer is imported in a process of its own, by an interpreter of its own if need be, so these
modules need nothing but the peer itself.
"""

PEERS = {
    "ours": "dali_core",
    "reference": "NVIDIA DALI",
    "torch_pillow": "PyTorch DataLoader and Pillow",
}
