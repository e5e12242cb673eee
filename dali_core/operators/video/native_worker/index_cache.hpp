// Keeps indices of files between runs, in the database of worker/index_cache.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dali_core/operators/video/native_worker/packed_index.hpp"

namespace dali_core {

// What a file is known by.
struct FileKey {
  std::string path;  // absolute
  int64_t size = 0;
  int64_t changed = 0;  // nanoseconds

  // Throws VideoFileError if there is no such file.
  explicit FileKey(const std::string& path);
};

// A folder of indices; nothing is kept if it is empty, or where SQLite is not installed. What is
// wrong with it never shows but in time.
class IndexCache {
 public:
  explicit IndexCache(const std::string& folder);
  std::optional<PackedIndex> load(const FileKey& key) const;
  void store(const FileKey& key, const PackedIndex& index) const;

 private:
  std::string folder_;
  std::string file_;
};

}  // namespace dali_core
