"""Uses names that are private, as programs that build on the library's parts do."""

import numpy as np

import nvidia.dali as dali
import nvidia.dali.plugin.jax as dali_jax
import nvidia.dali.plugin.pytorch as dali_torch
from nvidia.dali import _conditionals, backend, fn, ops, pipeline_def, types
from nvidia.dali.auto_aug import augmentations, core
from nvidia.dali.auto_aug.core._args import UnusedArgException, forbid_unused_kwargs
from nvidia.dali.auto_aug.core._utils import get_translations, pretty_select
from nvidia.dali.backend import GetSchema


def show_names():
    versions = (dali.__cuda_version__, backend.__cuda_version__)
    print("versions", versions[0] == versions[1], *map(type, versions), type(dali.__git_sha__))
    for name in ("readers__File", "RandomBBoxCrop", "MFCC", "reductions__RMS", "Resize"):
        schema = backend.GetSchema(name)
        print("schema", schema.Name(), schema.ModulePath(), schema.OperatorName())
        print("inputs", schema.MinNumInput(), schema.MaxNumInput(), schema.IsDeprecated())
    schema = GetSchema("Resize")
    print("arguments", *(schema.HasArgument(name) for name in ("resize_x", "no_such")))
    print("optional", schema.IsArgumentOptional("size"), schema.IsTensorArgument("size"))
    try:
        GetSchema("NoSuchOperator")
    except KeyError:
        print("no such operator")
    print("features", dali.tfrecord.FixedLenFeature([], dali.tfrecord.int64, 0) is not None)
    print("submodules", dali_torch.fn.torch_python_function.__name__, dali_jax.fn is not None)
    print("proxy", dali_torch.experimental.proxy.DALIServer.__name__)


class Jittered:
    """Augmentations of a suite of one's own."""

    def __init__(self, **options):
        self.suite = [
            augmentations.shear_x.augmentation(mag_range=(0, 0.3), randomly_negate=False),
            augmentations.solarize.augmentation(mag_range=(256, 128)),
            *get_translations(False, 100, 1.0, 8, None),
        ]
        forbid_unused_kwargs(self.suite, options, "Jittered")
        self.options = options

    def __call__(self, images, number):
        bins = core.signed_bin(0)
        options = dict(magnitude_bin=bins, num_magnitude_bins=3, data=images, **self.options)
        return pretty_select(self.suite, number, options, "Jittered", "get_suite")


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_conditionals=True)
def augmented():
    images = fn.external_source(
        lambda: [np.full((16, 16, 3), 40 + i, np.uint8) for i in range(4)], layout="HWC"
    )
    number = fn.external_source(lambda: [np.int32(i) for i in range(4)])
    return Jittered(fill_value=0)(images, number)


@pipeline_def(batch_size=4, num_threads=2, device_id=None)
def divided():
    boxes = fn.external_source(lambda: [np.full((i % 3, 2), i, np.float32) for i in range(4)])
    is_wide = fn.external_source(lambda: [np.array(i < 2) for i in range(4)])
    has_boxes = boxes.shape()[0] > 0
    full, empty = fn._conditional.split(boxes, predicate=has_boxes)
    wide, _ = fn._conditional.split(is_wide, predicate=has_boxes)
    # Without boxes there is no first one.
    yes, no = fn._conditional.split(full[0] * 2, predicate=wide)
    first = fn._conditional.merge(yes + 100, fn.stack(no, no)[0], predicate=wide)
    none = fn.reductions.sum(empty, axes=0) - 1
    merged = fn._conditional.merge(first, none, predicate=has_boxes)
    checked = fn._conditional.validate_logical(
        is_wide, expression_name="or", expression_side="left"
    )
    return merged, fn._conditional.not_(is_wide), checked, fn.cast(has_boxes, dtype=types.INT32)


@pipeline_def(batch_size=2, num_threads=1, device_id=None, py_num_workers=2)
def from_workers(parallel):
    return fn.external_source(
        lambda info: np.int32([info.idx_in_epoch]), batch=False, parallel=parallel
    )


def main():
    show_names()
    try:
        Jittered(no_such_argument=1)
    except UnusedArgException:
        print("unused argument")
    shear = augmentations.shear_x.augmentation(mag_range=(0, 0.3))
    print("magnitudes", *(f"{magnitude:.3f}" for magnitude in shear._get_magnitudes(4)))
    print("none", augmentations.invert._get_magnitudes(4), core._augmentation is not None)
    pipe = augmented()
    pipe.build()
    print("same", *(int(np.array(image).mean()) for image in pipe.run()[0]))
    pipe = divided()
    pipe.build()
    for output in pipe.run():
        print("divided", output.as_array().tolist())
    node = fn.external_source(lambda: [np.int32(1)] * 2)
    print("node", isinstance(node, ops._DataNode), bool(_conditionals.conditionals_enabled()))
    for parallel in (False, True):
        pipe = from_workers(parallel, py_start_method="fork")
        pipe.build()
        pool = pipe._py_pool
        print("pool", pipe._py_pool_started, None if pool is None else len(set(pool.pids())))
        pipe._prefetch()
        print("prefetched", pipe.outputs()[0].as_array().ravel().tolist())
        if pool is not None:
            pool.close()


if __name__ == "__main__":
    main()
