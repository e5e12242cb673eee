// A tensor as Python's buffer protocol shows it (PEP 3118).
#pragma once

#include <Python.h>

#include <cstring>

#include "dali_core/tensor.hpp"

namespace dali_core {

// What a view refers to. It lives as long as the view, whatever happens to the tensor meanwhile.
struct BufferView {
  Tensor tensor;
  Py_ssize_t shape[kMaxDims];
  Py_ssize_t strides[kMaxDims];

  explicit BufferView(const Tensor& viewed) : tensor(viewed) {
    Py_ssize_t stride = static_cast<Py_ssize_t>(size_of(tensor.type));
    for (int i = tensor.shape.ndim - 1; i >= 0; --i) {
      shape[i] = static_cast<Py_ssize_t>(tensor.shape[i]);
      strides[i] = stride;
      stride *= shape[i];
    }
  }
};

// The element type in the notation of the `struct` module.
inline const char* buffer_format(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return "B";
    case DataType::kUInt16:
      return "H";
    case DataType::kUInt32:
      return "I";
    case DataType::kUInt64:
      return "Q";
    case DataType::kInt8:
      return "b";
    case DataType::kInt16:
      return "h";
    case DataType::kInt32:
      return "i";
    case DataType::kInt64:
      return "q";
    case DataType::kFloat16:
      return "e";
    case DataType::kFloat:
      return "f";
    case DataType::kFloat64:
      return "d";
    case DataType::kBool:
      return "?";
    default:
      return "x";
  }
}

// The other way round: the type of elements of `size` bytes in native order, or none.
inline DataType type_of_format(const char* format, Py_ssize_t size) {
  if (format == nullptr) return DataType::kUInt8;
  if (*format == '@') ++format;
  if (format[0] == 0 || format[1] != 0) return DataType::kNone;
  const int log_size = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  if (std::strchr("BHILQ", *format)) return static_cast<DataType>(log_size);
  if (std::strchr("bhilq", *format)) return static_cast<DataType>(log_size + 4);
  switch (*format) {
    case 'e':
      return DataType::kFloat16;
    case 'f':
      return DataType::kFloat;
    case 'd':
      return DataType::kFloat64;
    case '?':
      return DataType::kBool;
    default:
      return DataType::kNone;
  }
}

}  // namespace dali_core
