"""Operators that take data from the program."""
