"""Automatic augmentation: AutoAugment, RandAugment, TrivialAugment, and what they apply."""
