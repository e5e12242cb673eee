"""Weighted means of pairs of images and their labels."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range


def mixing_args(alpha: float) -> tuple[Arg, ...]:
    """Return the arguments of operators that mix the samples of a batch.

    Parameters
    ----------
    alpha : float
        Default of the argument `alpha`.
    """
    return (
        Arg(
            "alpha",
            float,
            "Both parameters of the beta distribution that the weights are drawn from: 1 is "
            "uniform, and smaller ones mix less.",
            default=alpha,
            range=Range(0, above=True),
        ),
        Arg(
            "num_classes",
            int,
            "Number of classes where labels are class numbers. By default, labels are rows with a "
            "number for each class.",
            default=0,
            range=Range(0),
        ),
        Arg(
            "per_sample",
            bool,
            "Whether each sample gets a weight of its own, rather than one for all of the batch.",
            default=False,
        ),
    )


MIXING_DOC = """Each sample is mixed with one of the same batch, in a random order of the batch,
where it may also be its own partner. What is drawn depends on the seed, the epoch, and the numbers
of the samples, not on threads. The order, and weights that are not per sample, also depend on the
size of the batch, and on the number of its first sample.

Returns
-------
(DataNode, DataNode)
    The images, of the same type, shape and layout; and the labels, float32 with a number for each
    class, which losses such as `cross_entropy` of PyTorch take as probabilities."""

SPEC = OpSpec(
    name="mixup",
    doc=f"""Mix each image and its label with those of another sample of the batch.

With a weight from Beta(`alpha`, `alpha`)::

    image = weight * image + (1 - weight) * other_image
    label = weight * label + (1 - weight) * other_label

computed in single precision; ``UINT8`` rounds to the nearest. H. Zhang, M. Cisse, Y. N. Dauphin,
D. Lopez-Paz: "mixup: Beyond empirical risk minimization", ICLR 2018, equation 1.

{MIXING_DOC}""",
    keeps_type=True,
    inputs=2,
    outputs=2,
    input_docs=(
        "Images, or other tensors, ``UINT8``, ``FLOAT16`` or ``FLOAT``; all of the batch of one "
        "shape.",
        "Labels: class numbers, or rows with a number for each class.",
    ),
    args=mixing_args(0.2),
    random=True,
    reads_batch=True,
)
