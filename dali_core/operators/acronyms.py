"""Words of operators' names that the names of their classes have in capitals."""

from __future__ import annotations

ACRONYMS = {
    "bbox": "BBox",
    "coco": "COCO",
    "dicom": "DICOM",
    "dl": "DL",
    "hdf5": "HDF5",
    "jsonl": "JSONL",
    "lerobot": "LeRobot",
    "mds": "MDS",
    "mfcc": "MFCC",
    "mxnet": "MXNet",
    "nifti": "NIfTI",
    "rms": "RMS",
    "roi": "ROI",
    "ssd": "SSD",
    "tfrecord": "TFRecord",
}
"""As NVIDIA DALI has them, and the formats name themselves; other words have one capital."""
