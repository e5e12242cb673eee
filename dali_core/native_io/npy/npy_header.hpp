// The header of an .npy file: what an array is, and where its elements begin. The format is that of
// numpy.lib.format, versions 1 to 3.
#pragma once

#include <cstdint>

#include "dali_core/types.hpp"

namespace dali_core {

struct NpyHeader {
  DataType type = DataType::kNone;
  bool is_big_endian = false;
  bool is_fortran_order = false;  // the first dimension is the fastest one
  Shape shape;
  int64_t data_offset = 0;  // of the first element in the file
};

// Length in bytes of the longest prefix that states the length of the header.
constexpr int64_t kNpyPrefix = 12;

// How many bytes the header has, data not included; `size` bytes are at hand. Throws
// std::runtime_error if this is no .npy file.
int64_t npy_header_bytes(const uint8_t* bytes, int64_t size);

// Reads a header that is there completely, of a file of `file_size` bytes, which must have all
// elements. Throws std::runtime_error where this is no array of numbers.
NpyHeader parse_npy_header(const uint8_t* bytes, int64_t size, int64_t file_size);

}  // namespace dali_core
