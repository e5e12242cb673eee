"""Operators: one folder each, at the path of its function below `fn`."""
