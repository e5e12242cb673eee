// Consecutive samples of one reader in a batch: where they are in the epoch's order, and what may
// take the place of a bad one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dali_core/permutation.hpp"

namespace dali_core {

struct ReaderRun {
  uint64_t epoch = 0;
  // Sample i is at `first + i * step` of the epoch's order. Padding repeats one: its step is 0.
  uint64_t first = 0, length = 0, step = 1;
  // The shard's part of that order; nothing is known about it if `shard_size` is 0.
  uint64_t shard_first = 0, shard_size = 0, shard_step = 1;
  // The positions from `order_first` on are permuted; the order is the natural one if
  // `order_size` is 0.
  uint64_t order_first = 0, order_size = 0, order_seed = 0;
  // Whether the reader gives none of these samples: their index is -1.
  bool is_absent = false;
  // The index in the data set at each position of the epoch's order, where a sampler has given it.
  std::shared_ptr<const std::vector<int64_t>> listed_order;

  uint64_t position(uint64_t sample) const { return first + sample * step; }

  // What comes `distance` places later in the shard; its first sample follows its last one.
  uint64_t later_position(uint64_t sample, uint64_t distance) const {
    const uint64_t place = (position(sample) - shard_first) / shard_step;
    return shard_first + (place + distance) % shard_size * shard_step;
  }

  // Of positions in the epoch's order: the indices in the data set.
  class Indices {
   public:
    explicit Indices(const ReaderRun& run)
        : first_(run.order_first),
          is_permuted_(run.order_size > 0),
          order_(run.order_size, run.order_seed, run.epoch),
          listed_(run.listed_order.get()),
          is_absent_(run.is_absent) {}

    int64_t operator()(uint64_t position) const {
      if (is_absent_) return -1;
      if (listed_) return (*listed_)[position];
      return static_cast<int64_t>(is_permuted_ ? first_ + order_(position - first_) : position);
    }

   private:
    uint64_t first_;
    bool is_permuted_;
    Permutation order_;
    const std::vector<int64_t>* listed_;  // belongs to the run
    bool is_absent_;
  };
};

}  // namespace dali_core
