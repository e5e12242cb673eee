"""A pipeline in the main process, called sample by sample in the workers of a `DataLoader`."""

from dali_core_pytorch.proxy.loader import DataLoader as DataLoader
from dali_core_pytorch.proxy.references import DALIProxy as DALIProxy
from dali_core_pytorch.proxy.server import DALIServer as DALIServer
