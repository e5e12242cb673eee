// Prefixes of the paths of a list, one for each folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace dali_core {

class PathFolders {
 public:
  // The paths from this one on, up to those of the next folder, begin so.
  void begin(int64_t first, std::string_view prefix) {
    starts_.push_back(first);
    prefixes_.append(prefix);
    ends_.push_back(static_cast<int64_t>(prefixes_.size()));
  }

  int64_t size() const { return static_cast<int64_t>(starts_.size()); }

  std::string_view prefix(int64_t folder) const {
    const auto number = static_cast<size_t>(folder);
    const auto begin = static_cast<size_t>(number == 0 ? 0 : ends_[number - 1]);
    return std::string_view(prefixes_).substr(begin, static_cast<size_t>(ends_[number]) - begin);
  }

  std::string_view prefix_of_path(int64_t index) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), index);
    return after == starts_.begin() ? std::string_view() : prefix(after - starts_.begin() - 1);
  }

  std::string to_bytes() const {
    std::string bytes(reinterpret_cast<const char*>(starts_.data()), size_of_numbers());
    bytes.append(reinterpret_cast<const char*>(ends_.data()), size_of_numbers());
    return bytes.append(prefixes_);
  }

  // Fills an object without folders with some; false, and in an undefined state, unless the
  // prefixes are parts of these bytes.
  bool from_bytes(std::string_view bytes, int64_t num_folders) {
    const auto count = static_cast<size_t>(num_folders);
    if (bytes.size() / (2 * sizeof(int64_t)) < count) return false;
    starts_.resize(count);
    ends_.resize(count);
    prefixes_ = bytes.substr(2 * size_of_numbers());
    if (count != 0) {
      std::memcpy(starts_.data(), bytes.data(), size_of_numbers());
      std::memcpy(ends_.data(), bytes.data() + size_of_numbers(), size_of_numbers());
    }
    int64_t before = 0;
    for (const int64_t end : ends_) {
      if (end < before) return false;
      before = end;
    }
    return before == static_cast<int64_t>(prefixes_.size());
  }

 private:
  size_t size_of_numbers() const { return starts_.size() * sizeof(int64_t); }

  std::string prefixes_;
  std::vector<int64_t> starts_, ends_;
};

}  // namespace dali_core
