"""Reads cubins, which are ELF files: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html."""

from __future__ import annotations

import struct

CUDA_MACHINE = 190
SYMBOL_TABLE = 2
FUNCTION = 2
# The flag of a symbol that marks a kernel, not a device function.
KERNEL = 0x10


def read_machine(cubin: bytes) -> int:
    """Return the machine type of the code."""
    assert cubin[:5] == b"\x7fELF\x02", "not an ELF file of 64 bits"
    machine: int = struct.unpack_from("<H", cubin, 18)[0]
    return machine


def read_architecture(cubin: bytes) -> int:
    """Return the architecture, such as 80. Its position changed with version 8 of the ABI."""
    flags: int = struct.unpack_from("<I", cubin, 48)[0]
    return (flags >> 8 if cubin[8] >= 8 else flags) & 0xFF


def read_kernels(cubin: bytes) -> set[str]:
    """Return the names of all kernels."""
    (offset,) = struct.unpack_from("<Q", cubin, 40)
    size, count = struct.unpack_from("<HH", cubin, 58)
    # name, type, flags, address, offset, size, link, info, alignment, size of an entry
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + i * size) for i in range(count)]
    kernels = set()
    for section in sections:
        if section[1] != SYMBOL_TABLE:
            continue
        texts = sections[section[6]][4]
        for position in range(section[4], section[4] + section[5], section[9]):
            name, info, other = struct.unpack_from("<IBB", cubin, position)
            if info & 0xF == FUNCTION and other & KERNEL:
                begin = texts + name
                kernels.add(cubin[begin : cubin.index(b"\0", begin)].decode())
    return kernels
