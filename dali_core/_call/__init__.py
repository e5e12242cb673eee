"""Calls of operators: checked, converted, placed on devices, independently of graphs."""
