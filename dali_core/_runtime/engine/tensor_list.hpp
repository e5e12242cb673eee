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

// Whether samples of one shape follow each other in memory without a gap.
inline bool lie_side_by_side(const std::vector<Tensor>& samples) {
  if (!have_one_shape(samples)) return false;
  const int64_t step = samples.empty() ? 0 : samples.front().num_bytes();
  for (size_t i = 0; step > 0 && i < samples.size(); ++i)
    if (samples[i].as<char>() != samples.front().as<char>() + static_cast<int64_t>(i) * step)
      return false;
  return true;
}

// Moves samples of one shape into memory of their own, side by side.
inline void gather(std::vector<Tensor>& samples) {
  if (samples.empty()) return;
  const auto step = static_cast<size_t>(samples.front().num_bytes());
  const std::shared_ptr<void> storage = BufferPool::create()->allocate(step * samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    char* target = static_cast<char*>(storage.get()) + i * step;
    if (step > 0) std::memcpy(target, samples[i].data, step);
    samples[i].storage = storage;
    samples[i].data = target;
  }
}

// One tensor over samples that lie side by side. It has a layout if the samples have one.
inline Tensor joined(const std::vector<Tensor>& samples) {
  Tensor whole;
  whole.type = DataType::kUInt8;
  whole.shape = {static_cast<int64_t>(samples.size())};
  if (samples.empty()) return whole;
  const Tensor& first = samples.front();
  if (first.shape.ndim == kMaxDims)
    throw std::invalid_argument(
        "samples must have at most 7 dimensions to be joined into one tensor (got 8). Take them one"
        " by one with at(i).");
  whole.type = first.type;
  whole.data = first.data;
  for (int i = 0; i < first.shape.ndim; ++i) whole.shape.push_back(first.shape[i]);
  if (!first.layout.empty()) whole.layout = Layout("N" + std::string(first.layout.c_str()));
  bool have_one_owner = true;
  for (const Tensor& sample : samples) have_one_owner &= sample.storage == first.storage;
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
  std::vector<Tensor> samples(static_cast<size_t>(whole.shape[0]), sample);
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i].data = static_cast<char*>(whole.data) + static_cast<int64_t>(i) * step;
  return samples;
}

}  // namespace dali_core
