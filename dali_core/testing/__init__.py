"""Conformance suites for what other packages add: framework adapters, operators, and readers.

Derive a class from a suite in a test module, say what to test, and run pytest; see each suite. They
are `AdapterSuite`, `DeviceAdapterSuite`, `OperatorSuite` and `ReaderSuite`.
"""

from __future__ import annotations

from dali_core.testing.adapters import AdapterSuite as AdapterSuite
from dali_core.testing.adapters import DeviceAdapterSuite as DeviceAdapterSuite
from dali_core.testing.examples import Example as Example
from dali_core.testing.examples import Input as Input
from dali_core.testing.examples import images as images
from dali_core.testing.operators import OperatorSuite as OperatorSuite
from dali_core.testing.readers import ReaderSuite as ReaderSuite
