"""`nvidia.dali.auto_aug.core._utils`: translations and selection, for suites of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core._graph.node import DataNode
from dali_core.auto_aug._translations import translations
from dali_core.auto_aug.core import _Augmentation, select


def get_translations(
    use_shape: bool,
    default_translate_abs: float,
    default_translate_rel: float,
    max_translate_abs: Any = None,
    max_translate_rel: Any = None,
) -> list[_Augmentation]:
    """Return the translations along x and along y, of the largest offset that is given."""
    largest = (max_translate_abs, max_translate_rel)
    return translations(use_shape, default_translate_abs, default_translate_rel, *largest)


def pretty_select(
    augmentations: Sequence[_Augmentation],
    aug_ids: DataNode | int,
    op_kwargs: dict[str, Any],
    auto_aug_name: str,
    ref_suite_name: str,
) -> Any:
    """Apply one augmentation to each sample; messages name the augmentation in any case."""
    return select(augmentations, aug_ids, **op_kwargs)
