// The paths of many files, and their labels: one array of bytes with an offset for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

class PathList {
 public:
  // What the paths that are added next begin with.
  void begin_folder(std::string_view prefix) {
    folder_starts_.push_back(size());
    prefixes_.append(prefix);
    prefix_ends_.push_back(static_cast<int64_t>(prefixes_.size()));
  }

  void add(std::string_view name, int64_t label) {
    names_.append(name);
    ends_.push_back(static_cast<int64_t>(names_.size()));
    labels_.push_back(static_cast<int32_t>(label));
  }

  // Releases memory that was kept for more.
  void finish() {
    names_.shrink_to_fit();
    ends_.shrink_to_fit();
    labels_.shrink_to_fit();
  }

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  int64_t num_folders() const { return static_cast<int64_t>(folder_starts_.size()); }
  const std::vector<int32_t>& labels() const { return labels_; }

  std::string path(int64_t index) const {
    const auto after = std::upper_bound(folder_starts_.begin(), folder_starts_.end(), index);
    std::string path(after == folder_starts_.begin() ? std::string_view()
                                                     : prefix(after - folder_starts_.begin() - 1));
    return path.append(part(names_, ends_, index));
  }

  int32_t label(int64_t index) const { return labels_[static_cast<size_t>(index)]; }

  std::string_view prefix(int64_t folder) const { return part(prefixes_, prefix_ends_, folder); }

  // Whether a path may have this text in it. It must not be in a prefix.
  bool may_contain(const std::string& text) const { return names_.find(text) != std::string::npos; }

  std::string to_bytes() const {
    std::string bytes;
    const int64_t counts[] = {size(), num_folders(), static_cast<int64_t>(names_.size()),
                              static_cast<int64_t>(prefixes_.size())};
    append(bytes, counts, 4);
    append(bytes, ends_.data(), ends_.size());
    append(bytes, folder_starts_.data(), folder_starts_.size());
    append(bytes, prefix_ends_.data(), prefix_ends_.size());
    append(bytes, labels_.data(), labels_.size());
    return bytes.append(prefixes_).append(names_);
  }

  // Fills an empty list from any bytes; false, and in an undefined state, unless `to_bytes` can
  // have written them about folders with files directly in them.
  bool from_bytes(std::string_view bytes) {
    int64_t counts[4];
    if (!take(bytes, counts, 4)) return false;
    const auto most = static_cast<int64_t>(bytes.size());
    for (const int64_t count : counts)
      if (count < 0 || count > most) return false;
    const auto [num_paths, num_prefixes, name_bytes, prefix_bytes] = counts;
    if (!take(bytes, ends_, num_paths) || !take(bytes, folder_starts_, num_prefixes) ||
        !take(bytes, prefix_ends_, num_prefixes) || !take(bytes, labels_, num_paths) ||
        static_cast<int64_t>(bytes.size()) != prefix_bytes + name_bytes)
      return false;
    prefixes_ = bytes.substr(0, static_cast<size_t>(prefix_bytes));
    names_ = bytes.substr(static_cast<size_t>(prefix_bytes));
    return rises(ends_, 1, name_bytes) && rises(prefix_ends_, 2, prefix_bytes) && are_starts() &&
           are_folders() && names_.find('/') == std::string::npos &&
           names_.find('\0') == std::string::npos;
  }

 private:
  static std::string_view part(const std::string& bytes, const std::vector<int64_t>& ends,
                               int64_t index) {
    const auto number = static_cast<size_t>(index);
    const auto begin = static_cast<size_t>(number == 0 ? 0 : ends[number - 1]);
    return std::string_view(bytes).substr(begin, static_cast<size_t>(ends[number]) - begin);
  }

  template <typename T>
  static void append(std::string& bytes, const T* values, size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }

  template <typename T>
  static bool take(std::string_view& bytes, T* values, size_t count) {
    if (bytes.size() / sizeof(T) < count) return false;
    if (count != 0) std::memcpy(values, bytes.data(), count * sizeof(T));
    bytes.remove_prefix(count * sizeof(T));
    return true;
  }

  template <typename T>
  static bool take(std::string_view& bytes, std::vector<T>& values, int64_t count) {
    if (bytes.size() / sizeof(T) < static_cast<size_t>(count)) return false;
    values.resize(static_cast<size_t>(count));
    return take(bytes, values.data(), values.size());
  }

  // Whether each part has some bytes at least, and they are all there are.
  static bool rises(const std::vector<int64_t>& ends, int64_t least, int64_t bytes) {
    int64_t before = 0;
    for (const int64_t end : ends) {
      if (end > bytes || end < before || end - before < least) return false;
      before = end;
    }
    return before == bytes;
  }

  bool are_starts() const {
    int64_t before = 0;
    for (const int64_t start : folder_starts_) {
      if (start < before || start > size()) return false;
      before = start;
    }
    return size() == 0 || (!folder_starts_.empty() && folder_starts_[0] == 0);
  }

  bool are_folders() const {
    for (int64_t i = 0; i < num_folders(); ++i) {
      const std::string_view text = prefix(i);
      if (text.find('/') != text.size() - 1 || text.find('\0') != std::string_view::npos ||
          text == "../")
        return false;
    }
    return true;
  }

  std::string names_, prefixes_;
  std::vector<int64_t> ends_, folder_starts_, prefix_ends_;
  std::vector<int32_t> labels_;
};

// The paths that an operator reads.
inline std::shared_ptr<const PathList> paths_of(const OperatorConfig& config) {
  // The address of a pointer that lives while the operator is being made.
  return *reinterpret_cast<const std::shared_ptr<PathList>*>(config.get<int64_t>("paths"));
}

}  // namespace dali_core
