"""JAX adapter: iterators that return arrays on one device, several, or many processes'."""

from dali_core.plugin.base_iterator import LastBatchPolicy as LastBatchPolicy
from dali_core_jax.adapter import JAXAdapter as JAXAdapter
from dali_core_jax.adapter import adapter as adapter
from dali_core_jax.definition import data_iterator as data_iterator
from dali_core_jax.definition import peekable_data_iterator as peekable_data_iterator
from dali_core_jax.iterators import DALIGenericIterator as DALIGenericIterator
from dali_core_jax.peekable import ArraySpec as ArraySpec
from dali_core_jax.peekable import DALIGenericPeekableIterator as DALIGenericPeekableIterator
