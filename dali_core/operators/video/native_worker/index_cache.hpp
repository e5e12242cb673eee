// Keeps indices of files between runs, in the database of worker/index_cache.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dali_core/operators/video/native_worker/packed_index.hpp"
#include "dali_core/operators/video/native_worker/sqlite.hpp"

namespace dali_core {

// What a file is known by.
struct FileKey {
  std::string path;  // absolute
  int64_t size = 0;
  int64_t changed = 0;  // nanoseconds

  // Throws VideoFileError if there is no such file.
  explicit FileKey(const std::string& path);
};

// A folder of indices; nothing is kept if it is empty, where SQLite is not installed, or where
// others may write. What is wrong with it never shows but in time.
class IndexCache {
 public:
  explicit IndexCache(const std::string& folder);
  std::optional<PackedIndex> load(const FileKey& key) const;
  void store(const FileKey& key, const PackedIndex& index) const;

 private:
  bool is_usable(const FileKey& key) const;
  void handle(const SqliteError& error) const;

  std::string folder_;
  std::string file_;
  mutable bool is_given_up_ = false;  // other programs have locked the file for too long
};

}  // namespace dali_core
