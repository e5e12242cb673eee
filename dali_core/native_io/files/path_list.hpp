// The paths of many files, and their labels, in memory or in a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dali_core/native_io/files/path_block.hpp"
#include "dali_core/native_io/files/path_file.hpp"
#include "dali_core/native_io/files/path_folders.hpp"
#include "dali_core/operator.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace dali_core {

struct LabeledPath {
  std::string path;
  int32_t label;
};

class PathList {
 public:
  // What the paths that are added next begin with.
  void begin_folder(std::string_view prefix) { folders_.begin(size_, prefix); }

  void add(std::string_view name, int64_t label) {
    if (size_ % PathBlock::kMostPaths == 0) blocks_.emplace_back();
    blocks_.back().add(name, static_cast<int32_t>(label));
    ++size_;
  }

  // Releases memory that was kept for more.
  void finish() {
    if (!blocks_.empty()) blocks_.back().finish();
    blocks_.shrink_to_fit();
  }

  // Removes all paths, and returns their memory to the system.
  void clear() {
    *this = PathList();
#if defined(__GLIBC__)
    // It would keep what are many small blocks.
    ::malloc_trim(0);
#endif
  }

  int64_t size() const { return size_; }
  int64_t num_folders() const { return folders_.size(); }
  std::string_view prefix(int64_t folder) const { return folders_.prefix(folder); }

  LabeledPath at(int64_t index) const {
    PathBlock read;
    const PathBlock& found = block(index / PathBlock::kMostPaths, read);
    const int64_t place = index % PathBlock::kMostPaths;
    std::string path(folders_.prefix_of_path(index));
    return {std::move(path.append(found.name(place))), found.label(place)};
  }

  std::string path(int64_t index) const { return at(index).path; }

  // Writes the labels one after another.
  void copy_labels(int32_t* target) const {
    for (int64_t first = 0; first < size_; first += PathBlock::kMostPaths) {
      PathBlock read;
      const PathBlock& found = block(first / PathBlock::kMostPaths, read);
      for (int64_t place = 0; place < found.size(); ++place) *target++ = found.label(place);
    }
  }

  // Whether a path in memory may have this text in it. It must not be in a prefix.
  bool may_contain(const std::string& text) const {
    for (const PathBlock& block : blocks_)
      if (block.names().find(text) != std::string::npos) return true;
    return false;
  }

  // What writes a list in memory, which must not change meanwhile, into a file with a note.
  std::unique_ptr<PathFileWriter> writer(std::string note) const {
    return std::make_unique<PathFileWriter>(blocks_, folders_, size_, std::move(note));
  }

  // Makes an empty list that of a file, and returns whether there was a sound one; throws if it
  // cannot be read.
  bool open(const std::string& path, std::string& note) {
    file_ = PathFile::open(path, folders_, note);
    if (file_ != nullptr) size_ = file_->num_paths();
    return file_ != nullptr;
  }

 private:
  // Returns `read` if the blocks are in a file.
  const PathBlock& block(int64_t number, PathBlock& read) const {
    if (file_ == nullptr) return blocks_[static_cast<size_t>(number)];
    return read = file_->block(number);
  }

  PathFolders folders_;
  std::vector<PathBlock> blocks_;
  std::shared_ptr<const PathFile> file_;  // has the blocks if it is not null
  int64_t size_ = 0;
};

// The paths that an operator reads.
inline std::shared_ptr<const PathList> paths_of(const OperatorConfig& config,
                                                const char* name = "paths") {
  // The address of a pointer that lives while the operator is being made.
  return *reinterpret_cast<const std::shared_ptr<PathList>*>(config.get<int64_t>(name));
}

}  // namespace dali_core
