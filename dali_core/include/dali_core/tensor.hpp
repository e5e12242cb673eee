// A tensor: dense row-major elements in shared memory, plus what is known about them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dali_core/types.hpp"

namespace dali_core {

// Number of the "device" whose memory the host's processors read and write.
constexpr int8_t kHost = -1;

struct Tensor {
  std::shared_ptr<void> storage;  // keeps the memory alive; `data` may point anywhere inside it
  void* data = nullptr;
  DataType type = DataType::kNone;
  int8_t device = kHost;  // whose memory it is; on a GPU, `data` is not for the host to follow
  Shape shape;
  Layout layout;
  std::shared_ptr<const std::string> source;  // file the sample came from, for errors and the user

  int64_t num_elements() const { return shape.num_elements(); }
  int64_t num_bytes() const { return checked_product(shape.num_elements(), size_of(type)); }

  template <typename T>
  T* as() {
    return static_cast<T*>(data);
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

// The same memory in another shape, which has no more elements.
Tensor viewed_as(const Tensor& tensor, const Shape& shape, const Layout& layout);

}  // namespace dali_core
