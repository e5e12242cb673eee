// Bytes that walks over archives look at: those of a file, read piece by piece, or of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/files/open_file.hpp"

namespace dali_core {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  int64_t size() const { return size_; }

  bool has(int64_t offset, int64_t bytes) const {
    return offset >= 0 && bytes >= 0 && offset <= size_ && bytes <= size_ - offset;
  }

  // The bytes at an offset, until the next call; they must be there, see `has`.
  virtual const uint8_t* at(int64_t offset, int64_t bytes) = 0;

 protected:
  explicit ByteSource(int64_t size) : size_(size) {}

 private:
  int64_t size_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(const uint8_t* data, size_t size)
      : ByteSource(static_cast<int64_t>(size)), data_(data) {}

  const uint8_t* at(int64_t offset, int64_t) override { return data_ + offset; }

 private:
  const uint8_t* data_;
};

class FileSource : public ByteSource {
 public:
  explicit FileSource(const OpenFile& file) : ByteSource(file.size()), file_(file) {}

  const uint8_t* at(int64_t offset, int64_t bytes) override {
    const auto filled = static_cast<int64_t>(window_.size());
    if (offset < start_ || bytes > filled || offset - start_ > filled - bytes) {
      // Headers of small members are near each other; those of large ones cost one page each.
      const int64_t window = file_.is_remote() ? kRemoteWindow : kWindow;
      window_.resize(static_cast<size_t>(std::min(std::max(bytes, window), size() - offset)));
      start_ = offset;
      file_.read_at(offset, reinterpret_cast<char*>(window_.data()),
                    static_cast<int64_t>(window_.size()));
    }
    return window_.data() + (offset - start_);
  }

 private:
  static constexpr int64_t kWindow = 4096;
  static constexpr int64_t kRemoteWindow = 1 << 20;  // a request takes as long as some megabytes

  const OpenFile& file_;
  int64_t start_ = 0;
  std::vector<uint8_t> window_;
};

}  // namespace dali_core
