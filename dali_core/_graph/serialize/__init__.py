"""Graphs as plain data, and fingerprints of graphs."""
