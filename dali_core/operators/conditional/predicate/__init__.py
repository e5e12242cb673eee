"""Truth values of scalars."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="conditional.predicate",
    doc="""Return whether a scalar is true, as a boolean.

Numbers are true unless they are zero.
""",
    args=(
        Arg("keyword", str, "Where it stands: ``'if'``, ``'and'``, ``'or'`` or ``'not'``."),
        Arg("negated", bool, "Tell the opposite.", default=False),
    ),
    input_docs=("Scalars of any type; for ``and`` and ``or`` they must be booleans.",),
    role="predicate",
    title=lambda arguments: f"operator {arguments['keyword']}",
)
