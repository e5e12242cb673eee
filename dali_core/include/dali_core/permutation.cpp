#include "dali_core/permutation.hpp"

#include <vector>

#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/permutation_lanes.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Numbers that are encrypted at a time: as many as keep vector registers busy.
constexpr int kLanes = 64;
constexpr int kRounds = 8;
constexpr uint32_t kLargestTableBits = 13;  // 256 KiB, which caches hold

// What the rounds of a network mix in for each right half: worth it for long lists, since a round
// is then one read. The last network of a thread is kept, as windows of an epoch follow each other.
class RoundTable {
 public:
  const uint32_t* of(uint32_t half_bits, uint64_t epoch, uint32_t key0, uint32_t key1) {
    if (mixed_.empty() || half_bits != half_bits_ || epoch != epoch_ || key0 != key0_ ||
        key1 != key1_)
      fill(half_bits, epoch, key0, key1);
    return mixed_.data();
  }

 private:
  void fill(uint32_t half_bits, uint64_t epoch, uint32_t key0, uint32_t key1) {
    const uint32_t count = uint32_t{1} << half_bits;
    mixed_.resize(static_cast<size_t>(kRounds) * count);
    for (uint32_t round = 0; round < kRounds; ++round)
      for (uint32_t right = 0; right < count; ++right)
        mixed_[static_cast<size_t>(round) * count + right] =
            philox4x32(
                {right, round, static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)},
                key0, key1)[0] &
            (count - 1);
    half_bits_ = half_bits;
    epoch_ = epoch;
    key0_ = key0;
    key1_ = key1;
  }

  std::vector<uint32_t> mixed_;  // [round][right half]
  uint32_t half_bits_ = 0, key0_ = 0, key1_ = 0;
  uint64_t epoch_ = 0;
};

void encrypt_by_table(uint64_t* values, int count, const uint32_t* table, uint32_t half_bits,
                      uint32_t mask) {
  uint32_t left[kLanes], right[kLanes];
  for (int i = 0; i < count; ++i) {
    left[i] = static_cast<uint32_t>(values[i] >> half_bits) & mask;
    right[i] = static_cast<uint32_t>(values[i]) & mask;
  }
  for (int round = 0; round < kRounds; ++round, table += size_t{1} << half_bits) {
    for (int i = 0; i < count; ++i) {
      const uint32_t next = left[i] ^ table[right[i]];
      left[i] = right[i];
      right[i] = next;
    }
  }
  for (int i = 0; i < count; ++i)
    values[i] = (static_cast<uint64_t>(left[i]) << half_bits) | right[i];
}

}  // namespace

void Permutation::list(uint64_t first, uint64_t count, int64_t* elements) const {
  if (size_ < 2) {
    for (uint64_t i = 0; i < count; ++i) elements[i] = static_cast<int64_t>(first + i);
    return;
  }
  static thread_local RoundTable tables;
  const bool has_table = half_bits_ <= kLargestTableBits && count >> half_bits_ > 0;
  const uint32_t* table = has_table ? tables.of(half_bits_, epoch_, key0_, key1_) : nullptr;
  uint64_t values[kLanes] = {}, places[kLanes];
  int filled = 0;
  for (uint64_t next = 0; next < count || filled > 0;) {
    for (; filled < kLanes && next < count; ++filled, ++next) {
      values[filled] = first + next;
      places[filled] = next;
    }
    if (table != nullptr)
      encrypt_by_table(values, kLanes, table, half_bits_, mask_);
    else
      DC_SIMD_DISPATCH(encrypt_lanes, values, kLanes, half_bits_, mask_, epoch_, key0_, key1_);
    int num_outside = 0;  // which walk on
    for (int i = 0; i < filled; ++i) {
      if (values[i] < size_) {
        elements[places[i]] = static_cast<int64_t>(values[i]);
      } else {
        values[num_outside] = values[i];
        places[num_outside++] = places[i];
      }
    }
    filled = num_outside;
  }
}

}  // namespace dali_core
