"""Gpu benchmark runs."""

import sys

from benchmarks import gpu, kernels_on_device

sys.argv = ["gpu", "--quick", "--without-pipeline"]
gpu.main()
for case in kernels_on_device.CASES:
    assert case.bar in (0, 0.6, 0.8)
