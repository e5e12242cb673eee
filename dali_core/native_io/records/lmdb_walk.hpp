// The entries of a database of LMDB, in the order of their keys, with bounds: the library itself
// maps the file and trusts it, so that a damaged one ends the process.
//
// The format is that of LMDB 0.9 on little-endian machines with 64 bits: pages of a tree, the root
// of which is named by the newer of two meta pages. Values are never divided: they are in a page of
// the tree, or in pages of their own one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/records/byte_source.hpp"
#include "dali_core/native_io/records/record.hpp"

namespace dali_core {

class LmdbWalk {
 public:
  explicit LmdbWalk(ByteSource& source) : source_(source) {}

  // Lists the entries: names are the keys. Those behind a damaged page have a problem; how many
  // there are, the meta page says.
  std::vector<ArchiveMember> entries() {
    if (!read_meta()) {
      add_problem(0, "no meta page of LMDB");
      return std::move(entries_);
    }
    if (root_ != kNoPage) {
      visited_.resize(static_cast<size_t>(source_.size() / page_size_), false);
      read_tree(root_, 0);
    }
    add_missing();
    return std::move(entries_);
  }

 private:
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  static constexpr int64_t kHeader = 16, kNodeHeader = 8;
  static constexpr uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4;
  static constexpr uint16_t kBigData = 1,
                            kNested = 2 | 4;  // databases, and several values of a key
  static constexpr int kMaxDepth = 32;

  bool read_meta() {
    uint64_t newest = 0;
    int num_sound = 0;
    for (const int64_t place : {int64_t{0}, first_page_size()}) {
      constexpr int64_t kMeta = 136;
      if (!source_.has(place, kHeader + kMeta)) continue;
      const uint8_t* const meta = source_.at(place, kHeader + kMeta) + kHeader;
      if (number_at<uint32_t>(meta) != 0xBEEFC0DE || number_at<uint32_t>(meta + 4) != 1) continue;
      const int64_t page_size = number_at<uint32_t>(meta + 24);
      if (page_size < 512 || page_size > 65536 || (page_size & (page_size - 1)) != 0) continue;
      ++num_sound;
      const auto transaction = number_at<uint64_t>(meta + 128);
      if (page_size_ != 0 && transaction <= newest) continue;
      newest = transaction;
      page_size_ = page_size;
      num_entries_ = number_at<uint64_t>(meta + 104);
      root_ = number_at<uint64_t>(meta + 112);
    }
    // What the other one says may be long out of date.
    if (num_sound == 1) add_problem(0, "one sound meta page, and one that is not");
    return page_size_ != 0;
  }

  // Where the second meta page is, which the first one says; by default, as most machines have it.
  int64_t first_page_size() {
    const int64_t size = source_.has(0, kHeader + 28)
                             ? number_at<uint32_t>(source_.at(0, kHeader + 28) + kHeader + 24)
                             : 0;
    return size >= 512 && size <= 65536 ? size : 4096;
  }

  void read_tree(uint64_t number, int depth) {
    if (number >= visited_.size())
      return add_problem(source_.size(), "a page beyond the end of the file");
    const int64_t place = static_cast<int64_t>(number) * page_size_;
    if (visited_[static_cast<size_t>(number)] || depth > kMaxDepth)
      return add_problem(place, "a page that is in the tree twice");
    visited_[static_cast<size_t>(number)] = true;
    const uint8_t* const data = source_.at(place, page_size_);
    const std::vector<uint8_t> page(data, data + page_size_);
    const auto flags = number_at<uint16_t>(page.data() + 10);
    const int64_t lower = number_at<uint16_t>(page.data() + 12);
    const bool is_leaf = (flags & 0x7f) == kLeaf;
    if (number_at<uint64_t>(page.data()) != number || (!is_leaf && (flags & 0x7f) != kBranch) ||
        lower < kHeader || lower > page_size_ || lower % 2 != 0)
      return add_problem(place, "a page without a sound header");
    for (int64_t entry = kHeader; entry < lower; entry += 2) {
      const int64_t node = number_at<uint16_t>(page.data() + entry);
      if (node < lower || node > page_size_ - kNodeHeader) {
        add_problem(place, "a page with an entry outside of it");
      } else if (is_leaf) {
        read_entry(page, node, place);
      } else {
        const uint8_t* const at = page.data() + node;
        read_tree(number_at<uint32_t>(at) | uint64_t{number_at<uint16_t>(at + 4)} << 32, depth + 1);
      }
    }
  }

  void read_entry(const std::vector<uint8_t>& page, int64_t node, int64_t place) {
    const uint8_t* const at = page.data() + node;
    const int64_t size = number_at<uint32_t>(at);
    const auto flags = number_at<uint16_t>(at + 4);
    const int64_t key_size = number_at<uint16_t>(at + 6), key = node + kNodeHeader;
    const bool is_big = (flags & kBigData) != 0;
    const int64_t in_page = is_big ? 8 : size;
    if (key_size > page_size_ - key || in_page > page_size_ - key - key_size)
      return add_problem(place, "an entry that is not inside of its page");
    ArchiveMember member{std::string(at + kNodeHeader, at + kNodeHeader + key_size),
                         place + key + key_size, size, ""};
    if (flags & kNested)
      member.problem =
          "the entry must be a value (it is a database of its own, or several values of one key). "
          "Write a database with one value for each key.";
    if (is_big) {
      const auto number = number_at<uint64_t>(at + kNodeHeader + key_size);
      if (number >= visited_.size())
        return add_problem(place, "a value beyond the end of the file");
      const int64_t first = static_cast<int64_t>(number) * page_size_;
      const uint8_t* const header = source_.at(first, kHeader);
      if (number_at<uint64_t>(header) != number || number_at<uint16_t>(header + 10) != kOverflow)
        return add_problem(first, "a value without a sound header");
      member.offset = first + kHeader;
      if (!source_.has(member.offset, size))
        return add_problem(first, "a value beyond the end of the file");
    }
    entries_.push_back(std::move(member));
  }

  // Lost entries have no keys: they are where the first damage is.
  void add_missing() {
    const size_t found = entries_.size();
    const auto most = static_cast<uint64_t>(source_.size() / kNodeHeader);
    if (num_entries_ <= found || num_entries_ > most) return;
    auto damage = std::find_if(entries_.begin(), entries_.end(),
                               [](const ArchiveMember& one) { return one.name.empty(); });
    if (damage == entries_.end()) {
      add_problem(source_.size(), "less entries than its meta page says");
      damage = entries_.end() - 1;
    }
    const ArchiveMember lost = *damage;
    entries_.insert(damage, static_cast<size_t>(num_entries_) - entries_.size(), lost);
  }

  void add_problem(int64_t place, const char* what) {
    entries_.push_back({"", place, 0,
                        "the database must be a sound file of LMDB (got " + std::string(what) +
                            ", at byte " + std::to_string(place) + "). Copy or write it again."});
  }

  ByteSource& source_;
  int64_t page_size_ = 0;
  uint64_t num_entries_ = 0, root_ = kNoPage;
  std::vector<bool> visited_;
  std::vector<ArchiveMember> entries_;
};

}  // namespace dali_core
