"""Operators on masks of segmentations."""
