"""The loops of kernels whose instructions are counted, and what one turn of them moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelCase:
    """One use of a kernel.

    Attributes
    ----------
    name : str
        What it does.
    module, kernel : str
        The stem of its source, and its name.
    accesses : mapping
        The accesses to global memory of one turn of the loop, see ``sass.cheapest_turn``.
    read, written : int
        The bytes of data that they are; parameters and what caches give do not count. Where a turn
        reads none, it does not wait for memory.
    floor : float
        The share of a copy that the instructions must leave possible on an H100.
    floor_with_more_bandwidth : float
        The same on an H200, whose processors are those of an H100.
    threads : int
        Threads of a block.
    then : KernelCase, optional
        The second of two passes. What both read and write is what the operator as a whole does,
        for as many pixels as a turn of the pass makes or prepares.
    """

    name: str
    module: str
    kernel: str
    accesses: Mapping[str, int]
    read: int
    written: int
    floor: float = 0.9
    floor_with_more_bandwidth: float = 0.9
    threads: int = 256
    then: KernelCase | None = None


_HALVED_COLUMNS = KernelCase(
    "halving, columns", "resample", "gather_image_columns", {"load 2": 32, "store 4": 3}, 48, 12, 0
)
_DOUBLED_COLUMNS = KernelCase(
    "doubling, columns", "resample", "gather_image_columns", {"load 2": 32, "store 4": 3}, 3, 12, 0
)
# What is between is in shared memory: nothing is waited for.
_BLURRED_ROWS = KernelCase(
    "blur uint8 by 3 x 3, down",
    "convolve_tiles",
    "convolve_tiles",
    {"LDS": 6, "store 4": 4},
    0,
    32,
    0,
)
_BLURRED_COLUMNS = KernelCase(
    "blur uint8 by 3 x 3, across",
    "convolve_tiles",
    "convolve_tiles",
    {"LDS": 12, "FMUL": 36, "STS": 3},
    0,
    24,
    0,
    then=_BLURRED_ROWS,
)
_BLURRED_FLOATS = KernelCase(
    "blur float by 3 x 3, columns",
    "convolve_axis",
    "convolve_axis",
    {"load 16": 6, "store 16": 4},
    64,
    64,
    0,
)
_EQUALIZED_PIXELS = KernelCase(
    "equalize, pixels",
    "equalize",
    "map_levels",
    {"load 4": 3, "load 1": 12, "store 4": 3},
    12,
    12,
    0,
)
_NORMALIZED_BYTES = KernelCase(
    "normalize uint8 to float, elements",
    "normalize_elements",
    "normalize_elements",
    {"load 4": 1, "load 8": 4, "store 16": 1},
    4,
    16,
    0,
)

CASES = (
    KernelCase(
        "resample, halving",
        "resample",
        "blend_image_rows",
        {"load 4": 8, "load 2": 2, "PRMT": 8, "store 16": 2},
        32,
        8,
        0.6,
        0.6,
        then=_HALVED_COLUMNS,
    ),
    KernelCase(
        "resample, doubling",
        "resample",
        "blend_image_rows",
        {"load 4": 8, "load 2": 2, "PRMT": 8, "store 16": 2},
        8,
        32,
        0.4,
        0.4,
        then=_DOUBLED_COLUMNS,
    ),
    KernelCase(
        "normalise uint8 to float, CHW",
        "normalize",
        "normalize_images",
        {"load 4": 4, "PRMT": 12, "store 16": 3},
        12,
        48,
        1.0,
    ),
    KernelCase(
        "normalise uint8 to float16, CHW",
        "normalize",
        "normalize_images",
        {"load 4": 4, "PRMT": 12, "store 8": 3},
        12,
        24,
    ),
    KernelCase(
        "cast uint8 to float16",
        "cast",
        "cast_elements",
        {"load 4": 4, "F2FP": 8, "PRMT": 4, "store 8": 4},
        16,
        32,
        1.0,
    ),
    KernelCase(
        "cast uint8 to float",
        "cast",
        "cast_elements",
        {"load 4": 4, "PRMT": 4, "store 16": 4},
        16,
        64,
        1.0,
    ),
    KernelCase(
        "crop, unaligned", "window_copy", "copy_windows", {"load 4": 5, "store 16": 1}, 16, 16
    ),
    KernelCase(
        "flip top to bottom",
        "window_copy",
        "copy_windows",
        {"load 4": 5, "store 16": 1},
        16,
        16,
        1.0,
    ),
    KernelCase(
        "flip left to right",
        "window_copy",
        "copy_windows",
        {"load 4": 6, "PRMT": 5, "store 16": 1},
        16,
        16,
    ),
    KernelCase("pad", "window_copy", "copy_windows", {"load 4": 5, "store 16": 1}, 16, 16),
    # Sixteen pixels of three bytes.
    KernelCase(
        "HWC to WHC",
        "transpose",
        "transpose_tiles",
        {"load 1": 48, "LDS": 48, "store 1": 48},
        48,
        48,
        0.9,
        0.8,
    ),
    KernelCase(
        "HWC to CHW",
        "transpose",
        "transpose_pixels",
        {"load 4": 3, "store 4": 3},
        12,
        12,
        0.9,
        0.9,
    ),
    KernelCase(
        "erase",
        "erase",
        "erase_regions",
        {"load 4": 4, "load 8": 4, "SHF": 4, "store 16": 1},
        16,
        16,
    ),
    KernelCase(
        "colour twist",
        "mix_colors",
        "mix_colors",
        {"load 4": 3, "PRMT": 21, "FMUL": 36, "store 4": 3},
        12,
        12,
    ),
    KernelCase(
        "lookup table", "lookup_table", "look_up", {"load 4": 4, "load 1": 16, "store 4": 4}, 16, 16
    ),
    KernelCase(
        "brightness",
        "brightness_contrast",
        "adjust_elements",
        {"load 4": 4, "FMUL": 16, "PRMT": 28, "store 4": 4},
        16,
        16,
    ),
    KernelCase(
        "expression (uint8 - mean) / deviation",
        "float_arithmetic",
        "run_float_program",
        {"load 4": 2, "FADD": 16, "MUFU": 8, "store 16": 2},
        8,
        32,
        0.7,
        0.7,
    ),
    # Four pixels, all of whose neighbours are in the image.
    KernelCase(
        "warp uint8, linear",
        "warp",
        "warp_images",
        {"load 4": 24, "PRMT": 48, "store 4": 3},
        12,
        12,
        0.57,
        0.4,
    ),
    KernelCase(
        "warp uint8, one channel, linear",
        "warp",
        "warp_images",
        {"load 1": 16, "store 4": 1},
        4,
        4,
        0.35,
        0.24,
    ),
    KernelCase(
        "warp uint8 to float, linear",
        "warp",
        "warp_images",
        {"load 4": 24, "PRMT": 48, "store 16": 3},
        12,
        48,
        1.5,
        1.0,
    ),
    KernelCase(
        "warp float, linear",
        "warp",
        "warp_images",
        {"load 4": 48, "store 16": 3},
        48,
        48,
        3.3,
        2.3,
    ),
    # What is counted of noise is what each element costs beside its random bits.
    KernelCase(
        "Gaussian noise on uint8, beside the draws",
        "noise",
        "add_gaussian_noise",
        {"load 1": 1, "store 1": 1},
        1,
        1,
        0.28,
        0.19,
    ),
    KernelCase(
        "salt and pepper on uint8, beside the draws",
        "noise",
        "add_salt_and_pepper",
        {"load 1": 1, "store 1": 1},
        1,
        1,
        0.28,
        0.19,
    ),
    KernelCase(
        "shot noise on uint8, beside the draws",
        "shot_noise",
        "add_shot_noise",
        {"load 1": 1, "store 1": 1},
        1,
        1,
        0.1,
        0.07,
    ),
    KernelCase("paste", "paste", "paste_regions", {"load 4": 5, "store 16": 1}, 16, 16),
    KernelCase(
        "transform of points, two components",
        "coord_transform",
        "transform_points",
        {"load 4": 5, "store 4": 1},
        8,
        4,
    ),
    KernelCase(
        "anchors and one box",
        "anchors",
        "encode_anchors",
        {"load 4": 8, "store 4": 5},
        32,
        20,
    ),
    # What is counted of planes is the second pass.
    KernelCase(
        "pixels of JPEG planes",
        "jpeg_distortion",
        "join_jpeg_planes",
        {"load 1": 9, "store 1": 3},
        9,
        3,
        0.1,
        0.1,
    ),
    KernelCase(
        "decibels", "decibels", "convert_to_decibels", {"load 4": 1, "store 4": 1}, 4, 4, 0.8, 0.55
    ),
    # With 512 samples in a window and half of them in the next one, there is a butterfly for each
    # new sample and each bin.
    KernelCase(
        "spectra, a butterfly of 4",
        "spectrogram",
        "compute_spectra",
        {"load 4": 6, "LDS": 8, "STS": 8},
        4,
        4,
        0.28,
        0.19,
    ),
    KernelCase(
        "spectra, two bins",
        "spectrogram",
        "compute_spectra",
        {"load 4": 2, "LDS": 4, "store 4": 2},
        8,
        8,
        0.55,
        0.39,
    ),
    KernelCase(
        "flip of points",
        "flip_points",
        "flip_coordinates",
        {"load 4": 1, "store 4": 1},
        4,
        4,
        1.0,
        0.8,
    ),
    KernelCase(
        "flip of boxes", "flip_points", "flip_boxes", {"load 4": 4, "store 4": 4}, 16, 16, 1.0, 1.0
    ),
    KernelCase(
        "blur uint8 by 3 x 3, loads",
        "convolve_tiles",
        "convolve_tiles",
        {"load 4": 8, "STS": 4},
        16,
        16,
        0.5,
        0.35,
        then=_BLURRED_COLUMNS,
    ),
    KernelCase(
        "blur float by 3 x 3, rows",
        "convolve_axis",
        "convolve_axis",
        {"load 4": 18, "store 16": 3},
        48,
        48,
        1.7,
        1.2,
        then=_BLURRED_FLOATS,
    ),
    KernelCase(
        "filter uint8, 4 weights of a window",
        "filter_images",
        "filter_images",
        {"load 1": 12, "load 4": 4},
        12,
        12,
        0.8,
        0.55,
    ),
    KernelCase(
        "filter float, 4 weights of a window",
        "filter_images",
        "filter_images",
        {"load 4": 16, "FMUL": 48},
        48,
        48,
        3.0,
        2.2,
    ),
    KernelCase(
        "equalize, histograms",
        "equalize",
        "count_levels",
        {"load 4": 3, "ATOMS": 12},
        12,
        12,
        0.65,
        0.45,
        then=_EQUALIZED_PIXELS,
    ),
    # Sums along the last axes, or along H and W of HWC images: the loop is the same.
    KernelCase(
        "sums of float, four rows of four lanes",
        "fold_doubles",
        "fold_doubles",
        {"load 16": 4, "DADD": 16},
        64,
        0,
        1.0,
        1.0,
    ),
    KernelCase(
        "deviations of float, four rows of four lanes",
        "fold_doubles",
        "fold_doubles",
        {"load 16": 4, "DMUL": 16},
        64,
        0,
        1.0,
        1.0,
    ),
    # Bytes come in words of a thread: more of them on their way would need more registers.
    KernelCase(
        "sums of uint8, four rows of four lanes",
        "fold_integers",
        "fold_integers",
        {"load 4": 4},
        16,
        0,
        1.0,
        0.8,
    ),
    KernelCase(
        "moments of uint8, four rows of four lanes",
        "fold_integers",
        "fold_integers",
        {"load 4": 4, "IMAD": 16},
        16,
        0,
        1.0,
        0.8,
    ),
    KernelCase(
        "greatest of uint8, four rows of four lanes",
        "fold_extremes",
        "fold_extremes",
        {"load 4": 4},
        16,
        0,
        1.0,
        0.8,
    ),
    KernelCase(
        "greatest of float, four rows of four lanes",
        "fold_extremes",
        "fold_extremes",
        {"load 16": 4},
        64,
        0,
        1.0,
        1.0,
    ),
    KernelCase(
        "sums of short runs of uint8",
        "fold_integers",
        "fold_integers",
        {"load 1": 4},
        4,
        0,
        0.28,
        0.2,
    ),
    # What chunks left is a thousandth of what they were.
    KernelCase("what chunks left", "join_chunks", "join_chunks", {"load 8": 1}, 8, 0, 0.55, 0.4),
    KernelCase(
        "normalize uint8 to float, moments",
        "fold_integers",
        "fold_integers",
        {"load 4": 4, "IMAD": 16},
        16,
        64,
        0.9,
        0.6,
        then=_NORMALIZED_BYTES,
    ),
    KernelCase(
        "factors of normalize",
        "normalize_elements",
        "find_factors",
        {"load 8": 2, "store 8": 1},
        16,
        8,
        0.4,
        0.3,
    ),
    KernelCase(
        "statistics of a batch",
        "normalize_elements",
        "join_statistics",
        {"load 8": 2},
        16,
        0,
        0.4,
        0.3,
    ),
)
