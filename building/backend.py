"""Build backend that `pip` calls: that of setuptools, with `building` on the import path."""

from setuptools.build_meta import *  # noqa: F403
