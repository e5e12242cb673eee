"""Iterators for JAX, under the module name of NVIDIA DALI."""

from dali_core_jax import DALIGenericIterator as DALIGenericIterator
from dali_core_jax import LastBatchPolicy as LastBatchPolicy
from dali_core_jax import data_iterator as data_iterator
