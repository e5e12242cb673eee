"""Words of operators' names that the names of their classes have in capitals."""

from __future__ import annotations

ACRONYMS = {
    "bbox": "BBox",
    "coco": "COCO",
    "dl": "DL",
    "mfcc": "MFCC",
    "mxnet": "MXNet",
    "rms": "RMS",
    "roi": "ROI",
    "ssd": "SSD",
    "tfrecord": "TFRecord",
}
"""As NVIDIA DALI has them; all other words have one capital."""
