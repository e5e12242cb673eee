"""Execution of a planned graph: what joins `_graph` and `_runtime`."""
