"""Former names of decoders."""
