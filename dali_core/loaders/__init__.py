"""Loaders: batches as tuples or dictionaries of arrays, in the shape that training loops expect."""

from dali_core.loaders.loader import BaseLoader as BaseLoader
from dali_core.loaders.options import LoaderOptions as LoaderOptions
from dali_core.loaders.placement import Placement as Placement
from dali_core.loaders.recipes import FolderLoaders as FolderLoaders
from dali_core.loaders.recipes import Table as Table
from dali_core.loaders.recipes import paired_files as paired_files
from dali_core.loaders.recipes import read_table as read_table
