// Copies that make the samples of a batch contiguous.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "dali_core/kernels/copy/row_copies.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

// The room of a sample where each begins at a multiple of `alignment`.
inline int64_t room_for(const Tensor& sample, int64_t alignment) {
  return checked_sum(sample.num_bytes(), alignment - 1) / alignment * alignment;
}

inline int64_t total_bytes(const std::vector<Tensor>& samples, int64_t alignment = 1) {
  int64_t total = 0;
  for (const Tensor& sample : samples) total = checked_sum(total, room_for(sample, alignment));
  return total;
}

// Copies of all samples, one after the other, to `to`. Neighbours in memory are one copy.
inline std::vector<RowCopy> copies_to(const std::vector<Tensor>& samples, void* to,
                                      int64_t alignment = 1) {
  std::vector<RowCopy> copies;
  char* target = static_cast<char*>(to);
  for (const Tensor& sample : samples) {
    const int64_t bytes = sample.num_bytes();
    if (bytes == 0) continue;
    const bool is_neighbour =
        !copies.empty() &&
        static_cast<const char*>(copies.back().in) + copies.back().bytes == sample.data &&
        static_cast<char*>(copies.back().out) + copies.back().bytes == target;
    if (is_neighbour)
      copies.back().bytes += bytes;
    else
      copies.push_back({sample.data, target, 1, bytes});
    target += room_for(sample, alignment);
  }
  return copies;
}

// The same samples in other memory.
inline std::vector<Tensor> placed(std::vector<Tensor> samples, const std::shared_ptr<void>& storage,
                                  int8_t device, int64_t alignment = 1) {
  char* position = static_cast<char*>(storage.get());
  for (Tensor& sample : samples) {
    sample.storage = storage;
    sample.data = position;
    sample.device = device;
    position += room_for(sample, alignment);
  }
  return samples;
}

inline bool have_one_owner(const std::vector<Tensor>& samples) {
  for (const Tensor& sample : samples)
    if (sample.storage != samples.front().storage) return false;
  return true;
}

// The owners of the samples' memory; an owner of several in a row is listed once.
inline std::vector<std::shared_ptr<void>> owners_of(const std::vector<Tensor>& samples) {
  std::vector<std::shared_ptr<void>> owners;
  for (const Tensor& sample : samples)
    if (owners.empty() || owners.back() != sample.storage) owners.push_back(sample.storage);
  return owners;
}

}  // namespace dali_core
