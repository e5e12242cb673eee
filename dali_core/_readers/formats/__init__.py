"""Formats that are read in Python, one file each."""
