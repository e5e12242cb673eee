"""Copies between the host and a device."""
