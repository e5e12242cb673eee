"""Workers that run functions of the user: processes or threads, and how results come back."""

from __future__ import annotations

from dali_core._runtime.workers.pickling import CallbackPickler as CallbackPickler
from dali_core._runtime.workers.pool import START_METHODS as START_METHODS
from dali_core._runtime.workers.pool import WorkerPool as WorkerPool
from dali_core._runtime.workers.produced import WHOLE as WHOLE
from dali_core._runtime.workers.produced import Keep as Keep
from dali_core._runtime.workers.produced import Produced as Produced
from dali_core._runtime.workers.produced import WorkerFunction as WorkerFunction
from dali_core._runtime.workers.settings import FunctionSettings as FunctionSettings
from dali_core._runtime.workers.task import Task as Task
