// Exclusive ownership of memory: memory may be written if nothing else refers to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "dali_core/tensor.hpp"

namespace dali_core {

// Whether the samples have memory that nothing else refers to, each for itself: other values and
// batches, operators and the user may share memory with them, and one sample may be there twice.
// The answer holds until one of these tensors is copied.
inline bool have_own_memory(const std::vector<Tensor>& samples) {
  std::map<const void*, long> references;
  std::vector<const Tensor*> ordered;
  for (const Tensor& sample : samples) {
    if (sample.data == nullptr || sample.num_bytes() == 0) continue;
    if (sample.storage == nullptr) return false;
    ++references[sample.storage.get()];
    ordered.push_back(&sample);
  }
  for (const Tensor* sample : ordered)
    if (sample->storage.use_count() > references[sample->storage.get()]) return false;
  const auto address = [](const Tensor* sample) { return static_cast<const char*>(sample->data); };
  std::sort(ordered.begin(), ordered.end(), [&](const Tensor* one, const Tensor* other) {
    return std::less<const char*>()(address(one), address(other));
  });
  for (size_t i = 1; i < ordered.size(); ++i)
    if (address(ordered[i - 1]) + ordered[i - 1]->num_bytes() > address(ordered[i])) return false;
  return true;
}

}  // namespace dali_core
