"""States of pipelines: positions, their plain form, checks, and other numbers of shards."""
