"""Count the tokens of images before they are decoded."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range

SPEC = OpSpec(
    name="image_tokens",
    doc="""Return the size to which an image is resized for a vision-language model, and its tokens.

There are two outputs: height and width, an int32 tensor of two numbers, which `resize` takes as
its `size`; and the number of tokens, an int32 scalar.

The rule is that of the image processor of Qwen2-VL (``smart_resize`` in Hugging Face
``transformers``). Both sides become multiples of ``patch * merge``: the nearest ones, and of two
equally near the even multiple. If the image then has more than `max_pixels`, both sides are divided
by the square root of the excess and rounded down; if it has fewer than `min_pixels`, they are
multiplied and rounded up. A token stands for ``merge * merge`` patches.
""",
    input_docs=(
        "Shapes of images, such as `peek_image_shape` gives: height and width, and perhaps more.",
    ),
    outputs=2,
    args=(
        Arg(
            "patch", int, "Height and width of a patch in pixels.", default=14, range=Range(1, 4096)
        ),
        Arg(
            "merge",
            int,
            "The number of patches along each side that are merged into a token.",
            default=2,
            range=Range(1, 4096),
        ),
        Arg(
            "min_pixels",
            int,
            "Smaller images are enlarged.",
            default=56 * 56,
            range=Range(1, 2**40),
        ),
        Arg(
            "max_pixels",
            int,
            "Larger images are reduced. It must not be less than `min_pixels`.",
            default=28 * 28 * 1280,
            range=Range(1, 2**40),
        ),
    ),
)
