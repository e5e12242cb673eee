"""Return what is known about tensors as data."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="get_property",
    input_device="any",
    role="property",
    doc="""Return a property of each tensor: its layout, or where it comes from.

The output is a text: a tensor of one dimension with a byte (``UINT8``) for each character, empty
if the property is not set.
""",
    input_docs=("Tensors of any type and shape; their elements are not read.",),
    args=(
        Arg(
            "key",
            str,
            'Which property: ``"layout"``, or ``"source_info"``, the path of the file as the '
            "reader found it, for data that was read from a file or made of such data.",
            choices=("layout", "source_info"),
        ),
    ),
)
