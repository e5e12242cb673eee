"""Ends while values are pending, computed ahead, or computed: ``exits.py WHAT FOLDER``."""

import sys

import numpy as np

import dali_core.dynamic as dd

what, folder = sys.argv[1:]
images = dd.as_batch([np.zeros((200, 300, 3), np.uint8)] * 8)
value = dd.gaussian_blur(dd.resize(images, size=(300, 300)), window_size=9)
if what == "computed":
    assert value.shape[0] == (300, 300, 3)
elif what == "running":
    executor = dd.EvalContext.current().executor()
    value.evaluate()
    for _ in range(3):
        (dd.resize(images, size=(100, 100)) + 1).evaluate()
elif what == "reading":
    reader = dd.readers.File(file_root=folder)
    for number, (data, _) in enumerate(reader.next_epoch(1)):
        value = (data + 1).evaluate()
        if number == 3:
            break
print("end", flush=True)
