// Element types, shapes and layouts: the vocabulary shared by the engine and every operator.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

#include "dali_core/data_type.hpp"
#include "dali_core/sizes.hpp"

namespace dali_core {

const char* name_of(DataType type);

// Errors of the checks below: out of line, since every caller would repeat their texts.
[[noreturn]] void refuse_no_type();
[[noreturn]] void refuse_dimension();
[[noreturn]] void refuse_letters(const char* text);

// Calls `function` with a value-initialised object of the C++ type behind `type`:
//   visit_type(tensor.type, [&](auto zero) { using T = decltype(zero); ... });
template <typename Function>
decltype(auto) visit_type(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kUInt16:
      return function(uint16_t{});
    case DataType::kUInt32:
      return function(uint32_t{});
    case DataType::kUInt64:
      return function(uint64_t{});
    case DataType::kInt8:
      return function(int8_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kInt64:
      return function(int64_t{});
    case DataType::kFloat16:
      return function(Half{});
    case DataType::kFloat:
      return function(float{});
    case DataType::kFloat64:
      return function(double{});
    case DataType::kBool:
      return function(bool{});
    default:
      refuse_no_type();
  }
}

constexpr int kMaxDims = 8;

struct Shape {
  int ndim = 0;
  int64_t dims[kMaxDims] = {};

  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) {
    for (int64_t extent : extents) push_back(extent);
  }

  int64_t& operator[](int i) { return dims[i]; }
  int64_t operator[](int i) const { return dims[i]; }

  void push_back(int64_t extent) {
    if (ndim == kMaxDims) refuse_dimension();
    dims[ndim++] = extent;
  }

  int64_t num_elements() const {
    int64_t product = 1;
    for (int i = 0; i < ndim; ++i) product = checked_product(product, dims[i]);
    return product;
  }

  bool operator==(const Shape& other) const {
    return ndim == other.ndim && std::memcmp(dims, other.dims, ndim * sizeof(int64_t)) == 0;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }
};

std::string to_string(const Shape& shape);

// Whether there may be such a tensor. Extents of 0 do not count: strides are products of the
// others.
bool is_possible(const Shape& shape, DataType type);

// Throws a SizeError unless there may be such a tensor.
void check_size(const Shape& shape, DataType type);

// One letter a dimension ("HWC"), or empty. Plain data, so that copying a tensor copies no heap.
struct Layout {
  char letters[kMaxDims + 1] = {};

  Layout() = default;
  Layout(const char* text) {
    if (std::strlen(text) > kMaxDims) refuse_letters(text);
    std::strcpy(letters, text);
  }
  Layout(const std::string& text) : Layout(text.c_str()) {}

  bool empty() const { return letters[0] == 0; }
  int ndim() const { return static_cast<int>(std::strlen(letters)); }
  const char* c_str() const { return letters; }
  char operator[](int i) const { return letters[i]; }

  // Position of a dimension's letter, or -1.
  int find(char letter) const {
    for (int i = 0; letters[i]; ++i)
      if (letters[i] == letter) return i;
    return -1;
  }

  bool operator==(const Layout& other) const { return std::strcmp(letters, other.letters) == 0; }
  bool operator!=(const Layout& other) const { return !(*this == other); }
};

}  // namespace dali_core
