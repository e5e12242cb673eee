"""Read data sets of LeRobot."""

from dali_core._readers.python_reader import python_reader
from dali_core.operators.robots.format import LeRobot

INDICES, SPEC = python_reader(LeRobot())
