"""The functional forms of the transforms, at the place that torchvision has them."""

from dali_core.torchvision.v2 import functional as functional
