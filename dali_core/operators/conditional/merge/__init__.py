"""Values that one of two branches gives."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

_TITLE = "operator if"

SPEC = OpSpec(
    name="conditional.merge",
    keeps_type=True,
    doc="""Return the value of the branch that was taken, without copying it.

The batch must have one type, number of dimensions and layout, whichever branches were taken.
""",
    args=(Arg("title", str, "What messages call it.", default=_TITLE),),
    inputs=3,
    input_docs=(
        "Scalars of booleans: which branch was taken.",
        "Values where that is true.",
        "Values where that is false.",
    ),
    role="merge",
    title=lambda arguments: arguments.get("title", _TITLE),
)
