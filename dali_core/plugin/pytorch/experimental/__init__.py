"""What may still change for PyTorch, under the module name of NVIDIA DALI."""
