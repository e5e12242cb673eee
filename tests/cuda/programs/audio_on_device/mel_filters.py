"""Mel filters."""

from dali_core import fn
from tests.cuda.programs.host_and_device import compare, made

for layout, shapes in (
    ("ft", [(129, 7), (65, 3), (129, 1), (1, 4), (33, 0)]),
    ("tf", [(5, 129), (2, 65), (0, 8)]),
    ("tfa", [(2, 40, 3), (1, 129, 2)]),
):
    for options in ({}, {"normalize": True, "nfilter": 9}, {"mel_formula": "htk"}):
        compare(
            lambda spectrum: fn.mel_filter_bank(spectrum, sample_rate=16000, **options),
            [made(shapes, "float32")],
            layout,
        )
