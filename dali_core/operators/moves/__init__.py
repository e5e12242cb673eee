"""Moves between the host and a device."""
