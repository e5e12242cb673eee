"""Operators for `if`, `and`, `or` and `not` on data, which the transformed program calls."""
