"""Ray adapter: pipelines in actors and tasks of a cluster.

`dali_core_ray.data` and `dali_core_ray.train` are imported by themselves, since they import Ray
Data and Ray Train, which actors need not do.
"""

from dali_core.plugin.base_iterator import LastBatchPolicy as LastBatchPolicy
from dali_core_ray.adapter import RayAdapter as RayAdapter
from dali_core_ray.adapter import adapter as adapter
from dali_core_ray.loader import RayLoader as RayLoader
