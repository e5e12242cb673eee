"""Train a residual network in many processes: ``torchrun -m examples.imagenet_pytorch``."""
