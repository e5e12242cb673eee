"""Experimental features for PyTorch, under the module name of NVIDIA DALI."""
