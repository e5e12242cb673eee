"""Operators that decode images."""
