"""Writes the type stubs of everything whose types a type checker cannot see by itself.

These are the functions of `fn` and the classes of `ops`, which are made when they are imported, and
the compiled modules. ``python -m dali_core._stubs`` writes the stubs into the source tree, where
they are committed; with ``--check`` it only compares.
"""
