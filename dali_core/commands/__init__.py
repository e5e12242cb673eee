"""Commands of ``dali-core``: a module for each, with `add_parser`, which sets what runs it."""
