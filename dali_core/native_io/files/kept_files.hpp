// Many files of which parts are read by many threads, without opening each for each part.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/files/open_file.hpp"

namespace dali_core {

class KeptFiles {
 public:
  explicit KeptFiles(std::vector<std::string> paths, Storage storage = {})
      : paths_(std::move(paths)),
        storage_(std::move(storage)),
        files_(new std::atomic<const OpenFile*>[paths_.size()]()) {}
  ~KeptFiles() {
    for (size_t i = 0; i < paths_.size(); ++i) delete files_[i].load();
  }
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  const std::string& path(size_t file) const { return paths_[file]; }

  // Calls `use` with an open file. The first ones stay open: a process may have about a thousand
  // open files, and has other uses for them.
  template <typename Use>
  void with(size_t file, Use&& use) const {
    if (const OpenFile* kept = files_[file].load(std::memory_order_acquire)) return use(*kept);
    auto opened = std::make_unique<const OpenFile>(paths_[file], storage_);
    if (opened->is_remote()) return use(*opened);  // there is nothing to keep open
    opened->size();                                // fails for what is no regular file
    const OpenFile* const current = opened.get();
    if (num_kept_.fetch_add(1) < kMaxKept) {
      const OpenFile* expected = nullptr;
      if (files_[file].compare_exchange_strong(expected, current, std::memory_order_acq_rel)) {
        opened.release();
        return use(*current);
      }
    }
    num_kept_.fetch_sub(1);
    use(*current);
  }

  // Reads a part of a file.
  void read(size_t file, int64_t offset, char* target, int64_t bytes) const {
    with(file, [&](const OpenFile& opened) { opened.read_at(offset, target, bytes); });
  }

 private:
  static constexpr int kMaxKept = 128;

  const std::vector<std::string> paths_;
  const Storage storage_;
  const std::unique_ptr<std::atomic<const OpenFile*>[]> files_;
  mutable std::atomic<int> num_kept_{0};
};

}  // namespace dali_core
