"""Behaviour cloning of a robot that reaches for a cube, from a LeRobot data set."""
