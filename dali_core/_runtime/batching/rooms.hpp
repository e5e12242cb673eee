// The bins of a window by the room that they have left, for best-fit packing.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace dali_core::batching {

// For each amount of room from 0 to a capacity a heap of bins, and a bit in a hierarchy of words by
// which the smallest amount that suffices is found in a few steps.
class DenseRooms {
 public:
  explicit DenseRooms(int64_t capacity) : roots_(capacity + 1, -1) {
    for (size_t size = roots_.size(); levels_.empty() || levels_.back().size() > 1;) {
      size = (size + 63) / 64;
      levels_.emplace_back(size, 0);
    }
  }

  void insert(int64_t room, int32_t bin) {
    if (static_cast<size_t>(bin) >= child_.size()) {
      child_.resize(bin + 1);
      sibling_.resize(bin + 1);
    }
    child_[bin] = sibling_[bin] = -1;
    int32_t& root = roots_[room];
    if (root >= 0) {
      root = joined(root, bin);
      return;
    }
    root = bin;
    uint64_t place = room;
    for (auto& words : levels_) {
      words[place >> 6] |= uint64_t{1} << (place & 63);
      place >>= 6;
    }
  }

  // Removes and returns the fullest bin that has at least `room`, the lowest number among equally
  // full ones; -1 if there is none.
  int32_t take(int64_t room) {
    const int64_t place = first_from(room);
    if (place < 0) return -1;
    const int32_t bin = roots_[place];
    roots_[place] = joined_siblings(child_[bin]);
    if (roots_[place] < 0) clear(place);
    return bin;
  }

 private:
  // Pairing heaps (Fredman, Sedgewick, Sleator and Tarjan, Algorithmica 1, 1986).
  int32_t joined(int32_t one, int32_t other) {
    if (other < one) std::swap(one, other);
    sibling_[other] = child_[one];
    child_[one] = other;
    return one;
  }

  int32_t joined_siblings(int32_t first) {
    int32_t pairs = -1;  // the pairs that were joined, last one first
    while (first >= 0) {
      const int32_t second = sibling_[first];
      if (second < 0) {
        sibling_[first] = pairs;
        pairs = first;
        break;
      }
      const int32_t next = sibling_[second];
      const int32_t pair = joined(first, second);
      sibling_[pair] = pairs;
      pairs = pair;
      first = next;
    }
    if (pairs < 0) return -1;
    int32_t root = pairs;
    for (int32_t pair = sibling_[root]; pair >= 0;) {
      const int32_t next = sibling_[pair];
      root = joined(root, pair);
      pair = next;
    }
    sibling_[root] = -1;
    return root;
  }

  void clear(uint64_t place) {
    for (auto& words : levels_) {
      if (words[place >> 6] &= ~(uint64_t{1} << (place & 63))) break;
      place >>= 6;
    }
  }

  int64_t first_from(uint64_t place) const {
    for (size_t level = 0; level < levels_.size(); ++level) {
      const auto& words = levels_[level];
      if ((place >> 6) >= words.size()) return -1;
      const uint64_t word = words[place >> 6] & (~uint64_t{0} << (place & 63));
      if (word != 0) {
        place = (place & ~uint64_t{63}) | __builtin_ctzll(word);
        while (level-- > 0) place = place << 6 | __builtin_ctzll(levels_[level][place]);
        return static_cast<int64_t>(place);
      }
      place = (place >> 6) + 1;
    }
    return -1;
  }

  std::vector<std::vector<uint64_t>> levels_;  // from single amounts to all of them
  std::vector<int32_t> roots_;                 // of the heap of each amount; -1 where it is empty
  std::vector<int32_t> child_, sibling_;       // of each bin
};

// The same for capacities that are too large for an entry each, and where bins may be passed over.
class SparseRooms {
 public:
  void insert(int64_t room, int32_t bin) { bins_.emplace(room, bin); }

  // Removes and returns the first bin that `accept` returns true for.
  template <typename Accept>
  int32_t take(int64_t room, const Accept& accept) {
    for (auto found = bins_.lower_bound({room, 0}); found != bins_.end(); ++found) {
      if (!accept(found->second)) continue;
      const int32_t bin = found->second;
      bins_.erase(found);
      return bin;
    }
    return -1;
  }

 private:
  std::set<std::pair<int64_t, int32_t>> bins_;
};

}  // namespace dali_core::batching
