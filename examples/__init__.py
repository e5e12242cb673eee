"""Example programs, and the generated photos that they use."""
