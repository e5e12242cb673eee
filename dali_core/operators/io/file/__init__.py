"""Operators on whole files."""
