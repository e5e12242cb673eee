// Division of a window's items into bins: the rules of packing, budgets and classes.
//
// An item is a place in the window, with one length or several. Every rule is a pure function of
// the lengths; items of a bin are listed in their order in the window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "dali_core/_runtime/batching/rooms.hpp"

namespace dali_core::batching {

// Lengths of items, one row for each.
struct Lengths {
  const int64_t* values;
  int32_t num_items;
  int32_t num_kinds;

  const int64_t* row(int32_t item) const { return values + static_cast<int64_t>(item) * num_kinds; }
};

// The bin of each item.
struct Division {
  std::vector<int32_t> bins;
  int32_t num_bins = 0;
};

// Items in ascending order of keys that are not negative; equal ones in their order.
inline std::vector<int32_t> sorted(const Lengths& lengths) {
  std::vector<int32_t> order(lengths.num_items), other(lengths.num_items);
  std::iota(order.begin(), order.end(), 0);
  int64_t largest = 0;
  for (int32_t i = 0; i < lengths.num_items; ++i) largest = std::max(largest, *lengths.row(i));
  constexpr int kBits = 11;
  for (int shift = 0; shift < 63 && (largest >> shift) > 0; shift += kBits) {
    int32_t starts[(1 << kBits) + 1] = {};
    const auto digit = [&](int32_t item) {
      return (*lengths.row(item) >> shift) & ((1 << kBits) - 1);
    };
    for (const int32_t item : order) ++starts[digit(item) + 1];
    std::partial_sum(starts, starts + (1 << kBits) + 1, starts);
    for (const int32_t item : order) other[starts[digit(item)]++] = item;
    order.swap(other);
  }
  return order;
}

// Items by descending length; equal ones in their order.
inline std::vector<int32_t> sorted_descending(const Lengths& lengths) {
  std::vector<int32_t> order = sorted(lengths);
  for (auto end = order.end(); end != order.begin();) {
    auto start = end - 1;
    while (start != order.begin() && *lengths.row(*(start - 1)) == *lengths.row(*start)) --start;
    std::reverse(start, end);
    end = start;
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Packs lengths of one kind.
inline Division best_fit_dense(const Lengths& lengths, int64_t capacity, int32_t max_samples) {
  Division division;
  division.bins.resize(lengths.num_items);
  DenseRooms rooms(capacity);
  std::vector<int64_t> room;  // of each bin
  std::vector<int32_t> counts;
  for (const int32_t item : sorted_descending(lengths)) {
    const int64_t length = *lengths.row(item);
    int32_t bin = rooms.take(length);
    if (bin < 0) {
      bin = division.num_bins++;
      room.push_back(capacity);
      counts.push_back(0);
    }
    division.bins[item] = bin;
    room[bin] -= length;
    if (++counts[bin] < max_samples) rooms.insert(room[bin], bin);
  }
  return division;
}

inline Division best_fit_sparse(const Lengths& lengths, const int64_t* capacities,
                                int32_t max_samples) {
  Division division;
  division.bins.resize(lengths.num_items);
  const int kinds = lengths.num_kinds;
  SparseRooms rooms;
  std::vector<int64_t> room;  // of each bin, in each kind
  std::vector<int32_t> counts;
  for (const int32_t item : sorted_descending(lengths)) {
    const int64_t* length = lengths.row(item);
    int32_t bin = rooms.take(length[0], [&](int32_t candidate) {
      for (int kind = 1; kind < kinds; ++kind) {
        if (room[static_cast<size_t>(candidate) * kinds + kind] < length[kind]) return false;
      }
      return true;
    });
    if (bin < 0) {
      bin = division.num_bins++;
      room.insert(room.end(), capacities, capacities + kinds);
      counts.push_back(0);
    }
    division.bins[item] = bin;
    int64_t* rest = &room[static_cast<size_t>(bin) * kinds];
    for (int kind = 0; kind < kinds; ++kind) rest[kind] -= length[kind];
    if (++counts[bin] < max_samples) rooms.insert(rest[0], bin);
  }
  return division;
}

// By descending length, each into the fullest bin that has room; of several kinds of lengths the
// first one counts, and all must fit.
inline Division best_fit(const Lengths& lengths, const int64_t* capacities, int32_t max_samples) {
  constexpr int64_t kMostDense = int64_t{1} << 19;
  return lengths.num_kinds == 1 && capacities[0] <= kMostDense
             ? best_fit_dense(lengths, capacities[0], max_samples)
             : best_fit_sparse(lengths, capacities, max_samples);
}

// In order; a bin is closed when the next item does not fit.
inline Division next_fit(const Lengths& lengths, const int64_t* capacities, int32_t max_samples) {
  Division division;
  division.bins.resize(lengths.num_items);
  const int kinds = lengths.num_kinds;
  std::vector<int64_t> room(capacities, capacities + kinds);
  int32_t count = 0;
  for (int32_t item = 0; item < lengths.num_items; ++item) {
    const int64_t* length = lengths.row(item);
    bool fits = division.num_bins > 0 && count < max_samples;
    for (int kind = 0; fits && kind < kinds; ++kind) fits = length[kind] <= room[kind];
    if (!fits) {
      ++division.num_bins;
      count = 0;
      std::copy(capacities, capacities + kinds, room.begin());
    }
    for (int kind = 0; kind < kinds; ++kind) room[kind] -= length[kind];
    ++count;
    division.bins[item] = division.num_bins - 1;
  }
  return division;
}

// By ascending length, cut where the next item would exceed the budget: the count times the
// longest, or the sum where items are not padded.
inline Division budget(const Lengths& lengths, int64_t tokens, bool padded, int32_t max_samples,
                       int32_t multiple_of) {
  Division division;
  division.bins.resize(lengths.num_items);
  const std::vector<int32_t> order = sorted(lengths);
  for (size_t start = 0; start < order.size();) {
    size_t stop = start;
    int64_t sum = 0;
    for (; stop < order.size() && stop - start < static_cast<size_t>(max_samples); ++stop) {
      const int64_t length = *lengths.row(order[stop]);
      const int64_t count = static_cast<int64_t>(stop - start) + 1;
      if (stop > start && (padded ? length > tokens / count : length > tokens - sum)) break;
      sum += length;
    }
    const size_t count = stop - start;
    if (count > static_cast<size_t>(multiple_of)) stop -= count % multiple_of;
    for (; start < stop; ++start) division.bins[order[start]] = division.num_bins;
    ++division.num_bins;
  }
  return division;
}

// The items of each class in order, cut into bins of the class's size. Bins are numbered by class.
// `first` gets the number of the first bin of each class, and of all bins.
inline Division classes(const int32_t* class_of, int32_t num_items, const int64_t* sizes,
                        int32_t num_classes, int32_t* first) {
  Division division;
  division.bins.resize(num_items);
  std::vector<int64_t> counts(num_classes, 0);
  for (int32_t item = 0; item < num_items; ++item) ++counts[class_of[item]];
  for (int32_t number = 0; number < num_classes; ++number) {
    first[number] = division.num_bins;
    division.num_bins += static_cast<int32_t>((counts[number] + sizes[number] - 1) / sizes[number]);
    counts[number] = 0;
  }
  first[num_classes] = division.num_bins;
  for (int32_t item = 0; item < num_items; ++item) {
    const int32_t number = class_of[item];
    division.bins[item] = first[number] + static_cast<int32_t>(counts[number]++ / sizes[number]);
  }
  return division;
}

// Lists the items of each bin, and where each bin begins in that list, and ends.
inline void list_bins(const Division& division, int64_t* items, int64_t* starts) {
  std::fill_n(starts, division.num_bins + 1, 0);
  for (const int32_t bin : division.bins) ++starts[bin + 1];
  std::partial_sum(starts, starts + division.num_bins + 1, starts);
  std::vector<int64_t> next(starts, starts + division.num_bins);
  for (size_t item = 0; item < division.bins.size(); ++item)
    items[next[division.bins[item]]++] = static_cast<int64_t>(item);
}

}  // namespace dali_core::batching
