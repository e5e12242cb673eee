"""Decodes images for another process: run as a program, by path, never imported.

Its arguments are the path of the native module, then those of nvImageCodec and its extensions. It
imports nothing of this package, so that it starts in a few hundredths of a second. One such process
serves all threads of a program, and forks a decoder for each.
"""

from __future__ import annotations

import ctypes
import os
import sys


def main() -> int:
    """Serve the process at the other end of descriptor 3 until it closes its end."""
    native, *paths = sys.argv[1:]
    arguments = (ctypes.c_char_p * len(paths))(*map(os.fsencode, paths))
    return int(ctypes.CDLL(native).dali_core_serve_codecs(len(paths), arguments))


if __name__ == "__main__":
    sys.exit(main())
