"""The loaders that are compared, one module each.

Every module has the same three names:

``PIPELINES``
    The names of the pipelines that it can run.
``versions()``
    The version of each package that matters to the measurement.
``open_batches(pipeline, files, threads, batch_size)``
    An endless iterator over the batches of a pipeline. It returns the number of samples of each
    batch.

A peer is imported in a separate process, possibly by another interpreter, so these modules import
only the peer itself.
"""

PEERS = {
    "ours": "dali_core",
    "reference": "NVIDIA DALI",
    "torch_pillow": "PyTorch DataLoader and Pillow",
    "torchcodec_loader": "PyTorch DataLoader, torchcodec and torchvision",
    "ours_without_index": "dali_core, JPEG without index",
    "ours_resampled_chroma": "dali_core, JPEG with chroma resampled",
}
DEFAULT_PEERS = ("ours", "reference", "torch_pillow")
