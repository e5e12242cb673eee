"""Parts of automatic augmentation: augmentations, magnitude bins, selection and policies."""

from __future__ import annotations

from dali_core.auto_aug.core._augmentation import Augmentation as _Augmentation
from dali_core.auto_aug.core._magnitudes import signed_bin
from dali_core.auto_aug.core._select import select
from dali_core.auto_aug.core.decorator import augmentation
from dali_core.auto_aug.core.policy import Policy

__all__ = ["Policy", "_Augmentation", "augmentation", "select", "signed_bin"]
