"""Adapter contract."""

import inspect
import json
import sys

from dali_core import adapters
from tests.cuda import address_adapter
from tests.cuda.programs.adapters.iterators import FOLDER

name_of_suite = json.loads(sys.argv[2])
Suite = getattr(address_adapter, name_of_suite)


class Point:
    name, value = "address", f"tests.cuda.address_adapter:{name_of_suite}.adapter"

    def load(self):
        return Suite.adapter


adapters._entry_points = lambda: {"address": Point()}
tests = [name for name in dir(Suite) if name.startswith("test_")]
for name in tests:
    suite = Suite()
    suite.setup_method()
    folder = FOLDER / name
    folder.mkdir()
    test = getattr(suite, name)
    test(**({"tmp_path": folder} if "tmp_path" in inspect.signature(test).parameters else {}))
print(len(tests))
