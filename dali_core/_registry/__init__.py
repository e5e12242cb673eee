"""Descriptions of all operators: those of this library, and those of other packages."""
