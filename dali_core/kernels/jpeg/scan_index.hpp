// Places inside the data of a sequential JPEG scan where decoding may start. The first decode of a
// file notes them on its way; a later one, of a part, starts at the place before each of its rows,
// and does not look at what lies beside, above and below the part.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

// State of a decoder between two groups of blocks (MCUs).
struct ScanPoint {
  static constexpr int kMaxComponents = 3;

  uint32_t bit = 0;      // that comes next, in the data without stuffed bytes
  uint16_t stuffed = 0;  // bytes that were left out before it
  int16_t predictions[kMaxComponents] = {};

  size_t byte() const { return bit / 8; }
};

// From the start of the scan as far as it has been read.
using ScanPoints = std::vector<ScanPoint>;

// Where the points of an image lie: one at the start of each row of groups, and along it.
struct ScanGrid {
  static constexpr int64_t kSpacingPixels = 64;

  int64_t columns = 1;  // groups in a row
  int64_t spacing = 1;  // groups from a point to the next
  int64_t points_per_row = 1;

  ScanGrid() = default;
  ScanGrid(int64_t group_columns, int64_t group_pixels)
      : columns(group_columns),
        spacing(kSpacingPixels / group_pixels),
        points_per_row((columns + spacing - 1) / spacing) {}

  int64_t group_of(int64_t point) const {
    return point / points_per_row * columns + point % points_per_row * spacing;
  }
  // The last one that is not behind a group.
  int64_t point_before(int64_t group) const {
    return group / columns * points_per_row + group % columns / spacing;
  }
};

// The points of many files, by their content: a file that has changed has none.
class ScanIndexes {
 public:
  // Nothing more is kept when the points take `max_bytes`.
  explicit ScanIndexes(size_t max_bytes);

  struct Key {
    uint64_t hash = 0;
    size_t size = 0;
    bool operator==(const Key& other) const { return hash == other.hash && size == other.size; }
  };
  // A keyed hash: without the key, two files with the same hash cannot be made.
  Key key_of(const EncodedImage& encoded) const;

  // Null if there are none.
  std::shared_ptr<const ScanPoints> find(const Key& key) const;
  // Keeps points that are more than before.
  void keep(const Key& key, std::shared_ptr<const ScanPoints> points);
  bool is_full() const { return is_full_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 16;

  struct HashOf {
    size_t operator()(const Key& key) const { return static_cast<size_t>(key.hash); }
  };
  // A lock is held for a look-up only.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Key, std::shared_ptr<const ScanPoints>, HashOf> files;
  };

  Shard& shard(const Key& key) { return shards_[key.hash >> 60]; }
  const Shard& shard(const Key& key) const { return shards_[key.hash >> 60]; }

  const size_t max_bytes_;
  uint64_t secret_[5];
  std::atomic<size_t> bytes_{0};
  std::atomic<bool> is_full_{false};
  Shard shards_[kShards];
};

}  // namespace dali_core
