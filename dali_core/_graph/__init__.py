"""The graph of a pipeline: how operator calls are recorded, checked, planned and drawn."""
