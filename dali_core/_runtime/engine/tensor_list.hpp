// A batch of samples as one tensor, and one tensor as a batch of samples.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "dali_core/memory.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

inline bool have_one_shape(const std::vector<Tensor>& samples) {
  for (const Tensor& sample : samples)
    if (sample.shape != samples.front().shape || sample.type != samples.front().type) return false;
  return true;
}

// Whether the samples follow each other in memory without a gap.
inline bool are_contiguous(const std::vector<Tensor>& samples) {
  const char* expected = nullptr;
  for (const Tensor& sample : samples) {
    if (sample.num_bytes() == 0) continue;
    if (expected != nullptr && sample.as<char>() != expected) return false;
    expected = sample.as<char>() + sample.num_bytes();
  }
  return true;
}

// Gives the layout of the first sample to those that have none. Returns the first that has another,
// or -1.
inline int spread_layout(std::vector<Tensor>& samples) {
  for (size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].layout.empty())
      samples[i].layout = samples[0].layout;
    else if (std::strcmp(samples[i].layout.c_str(), samples[0].layout.c_str()) != 0)
      return static_cast<int>(i);
  }
  return -1;
}

// Moves samples into contiguous memory of their own.
inline void gather(std::vector<Tensor>& samples) {
  if (samples.empty()) return;
  int64_t total = 0;
  for (const Tensor& sample : samples) total = checked_sum(total, sample.num_bytes());
  const std::shared_ptr<void> storage = BufferPool::create()->allocate(static_cast<size_t>(total));
  char* target = static_cast<char*>(storage.get());
  for (Tensor& sample : samples) {
    const int64_t bytes = sample.num_bytes();
    if (bytes > 0) std::memcpy(target, sample.data, static_cast<size_t>(bytes));
    sample.storage = storage;
    sample.data = target;
    target += bytes;
  }
}

// One tensor of a given shape over contiguous samples. `kind` gives type and rank if there are no
// samples. The layout of the samples, with an N in front, stays if it fits the shape.
inline Tensor joined(const std::vector<Tensor>& samples, const Tensor& kind, const Shape& shape) {
  const Tensor& first = samples.empty() ? kind : samples.front();
  check_size(shape, first.type);
  Tensor whole;
  whole.type = first.type;
  whole.device = first.device;
  whole.shape = shape;
  if (first.layout.ndim() + 1 == shape.ndim)
    whole.layout = Layout("N" + std::string(first.layout.c_str()));
  bool have_one_owner = true;
  for (const Tensor& sample : samples) {
    if (whole.data == nullptr && sample.num_bytes() > 0) whole.data = sample.data;
    have_one_owner &= sample.storage == first.storage;
  }
  if (whole.data == nullptr) whole.data = first.data;
  // Neighbours in memory may belong to different owners; all must stay.
  whole.storage = have_one_owner ? first.storage : std::make_shared<std::vector<Tensor>>(samples);
  return whole;
}

// Views of the parts of a tensor along its first dimension, without a layout.
inline std::vector<Tensor> split(const Tensor& whole) {
  Tensor sample = whole;
  sample.layout = Layout();
  sample.shape = Shape();
  for (int i = 1; i < whole.shape.ndim; ++i) sample.shape.push_back(whole.shape[i]);
  const int64_t step = sample.num_bytes();
  require_host_memory(static_cast<size_t>(whole.shape[0]) * sizeof(Tensor));
  std::vector<Tensor> samples(static_cast<size_t>(whole.shape[0]), sample);
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i].data = static_cast<char*>(whole.data) + static_cast<int64_t>(i) * step;
  return samples;
}

}  // namespace dali_core
