"""Readers: the protocol of data sets, their order, mixtures, and formats read in Python."""
