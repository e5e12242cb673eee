"""The suite of `dali_core.testing`, as authors of adapters run it."""

from dali_core_numpy import adapter

from dali_core.testing import AdapterSuite


class TestNumPyAdapter(AdapterSuite):
    adapter = adapter

    def to_numpy(self, array):
        return array
