"""Operators that readers of videos consist of where a GPU decodes."""
