"""Shared parts of the examples: class folders, batches as dictionaries, options, pictures."""
