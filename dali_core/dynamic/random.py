"""Random numbers: generators, and the operators that draw."""

from dali_core.dynamic._rng import RNG as RNG
from dali_core.dynamic._rng import get_default_rng as get_default_rng
from dali_core.dynamic._rng import set_seed as set_seed
