"""Former names of operators."""
