"""What `pip` calls: the backend of setuptools, which this folder's place makes find `building`."""

from setuptools.build_meta import *  # noqa: F403
