"""The suite that comes with dali_core, as the author of an adapter runs it."""

from dali_core_numpy import adapter

from dali_core.testing import AdapterSuite


class TestNumPyAdapter(AdapterSuite):
    adapter = adapter

    def to_numpy(self, array):
        return array
