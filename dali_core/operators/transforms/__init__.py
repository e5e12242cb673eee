"""Operators that make and combine affine transforms of coordinates."""
