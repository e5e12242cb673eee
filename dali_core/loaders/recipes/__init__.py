"""Loaders for folders of common shapes, which show the programs that they are made of."""

from dali_core.loaders.recipes.folder_loaders import FolderLoaders as FolderLoaders
from dali_core.loaders.recipes.pairs import paired_files as paired_files
from dali_core.loaders.recipes.tables import Table as Table
from dali_core.loaders.recipes.tables import read_table as read_table
