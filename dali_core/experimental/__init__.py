"""Interfaces that may change between versions, under the names of the reference API."""
