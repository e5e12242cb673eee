// A file with the paths of many files: blocks, where they begin, folders, a note, and a tail.
//
// Blocks are read when they are needed, and checked then; those of files up to 64 MiB also when it
// is opened, which takes about 20 ms for a million paths. It is not mapped: truncating a mapped
// file ends the process.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dali_core/native_io/files/open_file.hpp"
#include "dali_core/native_io/files/path_block.hpp"
#include "dali_core/native_io/files/path_folders.hpp"

namespace dali_core {

// How many parts there are, and a checksum of all but blocks, which have their own, and of where
// these begin, which would show in theirs.
struct PathFileTail {
  static constexpr int64_t kFormat = 0x3168746150696c44;

  int64_t format, num_paths, num_folders, folder_bytes, note_bytes;
  int64_t blocks_end;  // where it is written where the blocks begin
  uint64_t checksum;

  int64_t num_blocks() const {
    return num_paths / PathBlock::kMostPaths + (num_paths % PathBlock::kMostPaths != 0);
  }
  int64_t starts_bytes() const {
    return (num_blocks() + 1) * static_cast<int64_t>(sizeof(int64_t));
  }
  int64_t bytes_before() const { return blocks_end + starts_bytes() + folder_bytes + note_bytes; }

  uint64_t checksum_with(std::string_view folders_and_note) const {
    PathFileTail tail = *this;
    tail.checksum = crc32c(folders_and_note.data(), folders_and_note.size());
    return crc32c(&tail, sizeof tail);
  }
};

class PathFile {
 public:
  // Null if the file is damaged; throws if it cannot be read.
  static std::shared_ptr<const PathFile> open(const std::string& path, PathFolders& folders,
                                              std::string& note) {
    const std::shared_ptr<PathFile> file(new PathFile(path));
    return file->read_tail(folders, note) && file->begins_soundly() ? file : nullptr;
  }

  int64_t num_paths() const { return tail_.num_paths; }

  PathBlock block(int64_t number) const {
    PathBlock block;
    bool is_sound = false;
    try {
      is_sound = read_block(number, block);
    } catch (const std::runtime_error&) {
      // It is shorter than it was, or the disk is broken.
    }
    if (!is_sound) refuse(number);
    return block;
  }

 private:
  explicit PathFile(const std::string& path) : path_(path), file_(path, OpenFile::OfCache{}) {}

  bool read_tail(PathFolders& folders, std::string& note) {
    const int64_t size = file_.size(), size_before = size - static_cast<int64_t>(sizeof tail_);
    if (size_before < 0) return false;
    file_.read_at(size_before, reinterpret_cast<char*>(&tail_), sizeof tail_);
    for (const int64_t part : {tail_.num_paths, tail_.num_folders, tail_.folder_bytes,
                               tail_.note_bytes, tail_.blocks_end})
      if (part < 0 || part > size) return false;
    if (tail_.format != PathFileTail::kFormat || tail_.bytes_before() != size_before) return false;
    std::string rest(static_cast<size_t>(tail_.folder_bytes + tail_.note_bytes), '\0');
    file_.read_at(tail_.blocks_end + tail_.starts_bytes(), rest.data(),
                  static_cast<int64_t>(rest.size()));
    if (tail_.checksum_with(rest) != tail_.checksum) return false;
    note = rest.substr(static_cast<size_t>(tail_.folder_bytes));
    rest.resize(static_cast<size_t>(tail_.folder_bytes));
    return folders.from_bytes(rest, tail_.num_folders);
  }

  // Blocks of a file that is not large are checked at once: what is damaged is then listed again.
  bool begins_soundly() const {
    if (tail_.blocks_end > kCheckedBytes) return true;
    for (int64_t number = 0; number < tail_.num_blocks(); ++number) {
      PathBlock block;
      if (!read_block(number, block)) return false;
    }
    return true;
  }

  bool read_block(int64_t number, PathBlock& block) const {
    constexpr auto kBytes = static_cast<int64_t>(sizeof(int64_t));
    int64_t bounds[2];
    file_.read_at(tail_.blocks_end + number * kBytes, reinterpret_cast<char*>(bounds), 2 * kBytes);
    const auto [begin, end] = bounds;
    if (begin < 0 || end < begin || end > tail_.blocks_end) return false;
    if (end - begin > kMostBlockBytes) return false;
    std::string bytes(static_cast<size_t>(end - begin), '\0');
    file_.read_at(begin, bytes.data(), end - begin);
    const int64_t num_before = number * PathBlock::kMostPaths;
    return block.from_bytes(bytes, number,
                            std::min(PathBlock::kMostPaths, tail_.num_paths - num_before));
  }

  // Removes the file, so that the next start finds none and lists again.
  [[noreturn]] void refuse(int64_t number) const {
    ::unlink(path_.c_str());
    throw std::runtime_error("the saved list of files must be as it was written (block " +
                             std::to_string(number) + " of \"" + path_ +
                             "\" is damaged or missing). It was removed: start again.");
  }

  // Names in folders have up to 255 characters.
  static constexpr int64_t kMostBlockBytes = PathBlock::kMostPaths * 2048;

  static constexpr int64_t kCheckedBytes = 64 << 20;

  std::string path_;
  OpenFile file_;
  PathFileTail tail_{};
};

// Gives the bytes of such a file, piece by piece.
class PathFileWriter {
 public:
  PathFileWriter(const std::vector<PathBlock>& blocks, const PathFolders& folders,
                 int64_t num_paths, std::string note)
      : blocks_(blocks), folders_(folders), num_paths_(num_paths), note_(std::move(note)) {}

  // The next piece; empty after the last.
  std::string next() {
    std::string piece;
    if (is_done_) return piece;
    while (number_ < blocks_.size() && piece.size() < kPieceBytes) {
      piece.append(blocks_[number_].to_bytes(static_cast<int64_t>(number_)));
      starts_.push_back(blocks_end_ + static_cast<int64_t>(piece.size()));
      ++number_;
    }
    if (!piece.empty()) {
      blocks_end_ = starts_.back();
      return piece;
    }
    is_done_ = true;
    return end();
  }

 private:
  std::string end() const {
    const std::string folders = folders_.to_bytes();
    PathFileTail tail{PathFileTail::kFormat,
                      num_paths_,
                      folders_.size(),
                      static_cast<int64_t>(folders.size()),
                      static_cast<int64_t>(note_.size()),
                      blocks_end_,
                      0};
    tail.checksum = tail.checksum_with(folders + note_);
    std::string bytes(reinterpret_cast<const char*>(starts_.data()),
                      starts_.size() * sizeof(int64_t));
    return bytes.append(folders).append(note_).append(reinterpret_cast<const char*>(&tail),
                                                      sizeof tail);
  }

  static constexpr size_t kPieceBytes = 1 << 20;

  const std::vector<PathBlock>& blocks_;
  const PathFolders& folders_;
  const int64_t num_paths_;
  const std::string note_;
  std::vector<int64_t> starts_{0};
  int64_t blocks_end_ = 0;
  size_t number_ = 0;
  bool is_done_ = false;
};

}  // namespace dali_core
