"""Commands of ``dali-core``: a module for each, with `add_parser`, which sets what runs it.

Modules whose names begin with an underscore are what commands share.
"""
