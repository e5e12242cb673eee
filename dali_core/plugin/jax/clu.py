"""Iterators for JAX that can look ahead, like `PeekableIterator` of the package CLU."""

from dali_core_jax import ArraySpec as ArraySpec
from dali_core_jax import DALIGenericPeekableIterator as DALIGenericPeekableIterator
from dali_core_jax import peekable_data_iterator as peekable_data_iterator

# Another name that it goes by.
PeekableDALIGenericIterator = DALIGenericPeekableIterator
