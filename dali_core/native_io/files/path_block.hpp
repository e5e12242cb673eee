// The names of a few files, with a label each: what lists of paths consist of.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dali_core/native_io/checksum/crc32c.hpp"

namespace dali_core {

class PathBlock {
 public:
  static constexpr int64_t kMostPaths = 64;

  void add(std::string_view name, int32_t label) {
    if (name.size() > UINT32_MAX - names_.size())
      throw std::length_error("paths must have less than 4 GiB together in 64 files.");
    names_.append(name);
    entries_.push_back({static_cast<uint32_t>(names_.size()), label});
    if (size() == kMostPaths) finish();
  }

  // Releases memory that was kept for more.
  void finish() {
    names_.shrink_to_fit();
    entries_.shrink_to_fit();
  }

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  int32_t label(int64_t place) const { return entries_[static_cast<size_t>(place)].label; }
  const std::string& names() const { return names_; }

  std::string_view name(int64_t place) const {
    const auto number = static_cast<size_t>(place);
    const size_t begin = number == 0 ? 0 : entries_[number - 1].end;
    return std::string_view(names_).substr(begin, entries_[number].end - begin);
  }

  // The bytes of the block with this number, and a checksum of both.
  std::string to_bytes(int64_t number) const {
    std::string bytes(reinterpret_cast<const char*>(entries_.data()), size_of_entries());
    bytes.append(names_);
    const uint32_t checksum = checksum_of(bytes, number);
    return bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  }

  // Fills an empty block of some paths; false, and in an undefined state, unless `to_bytes` has
  // written these bytes.
  bool from_bytes(std::string_view bytes, int64_t number, int64_t num_paths) {
    uint32_t checksum;
    entries_.resize(static_cast<size_t>(num_paths));
    if (bytes.size() < size_of_entries() + sizeof checksum) return false;
    std::memcpy(&checksum, bytes.data() + bytes.size() - sizeof checksum, sizeof checksum);
    bytes.remove_suffix(sizeof checksum);
    if (checksum_of(bytes, number) != checksum) return false;
    std::memcpy(entries_.data(), bytes.data(), size_of_entries());
    names_ = bytes.substr(size_of_entries());
    uint32_t before = 0;
    for (const Entry& entry : entries_) {
      if (entry.end < before) return false;
      before = entry.end;
    }
    return before == names_.size();
  }

 private:
  struct Entry {
    uint32_t end;
    int32_t label;
  };

  size_t size_of_entries() const { return entries_.size() * sizeof(Entry); }

  // Differs for blocks of the same bytes at different places.
  static uint32_t checksum_of(std::string_view bytes, int64_t number) {
    return crc32c(bytes.data(), bytes.size()) ^ crc32c(&number, sizeof number);
  }

  std::string names_;
  std::vector<Entry> entries_;
};

}  // namespace dali_core
