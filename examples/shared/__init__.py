"""What several examples share: class folders, batches as dictionaries, options, pictures."""
