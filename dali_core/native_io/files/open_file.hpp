// A file, or an object in remote storage, that is read whole or in parts.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "dali_core/native_io/files/cache_file.hpp"
#include "dali_core/native_io/files/remote_reads.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Whether a path begins with a scheme, as `_storage/urls.py` has it.
inline bool is_url(const std::string& path) {
  const size_t end = path.find("://");
  if (end == std::string::npos || end == 0 || !std::isalpha(static_cast<uint8_t>(path[0])))
    return false;
  return std::all_of(path.begin(), path.begin() + static_cast<int64_t>(end), [](char one) {
    return std::isalnum(static_cast<uint8_t>(one)) || one == '+' || one == '.' || one == '-';
  });
}

inline std::string joined_path(const std::string& root, const std::string& path) {
  return root.empty() || path[0] == '/' || is_url(path) ? path : root + "/" + path;
}

// The reader of objects by their URLs; none if all files are local.
class Storage {
 public:
  Storage() = default;
  explicit Storage(std::shared_ptr<RemoteReads> reads) : reads_(std::move(reads)) {}
  explicit Storage(const OperatorConfig& config) {
    // The address of a pointer that lives while the operator is being made.
    const auto address = config.get_or<int64_t>("storage", 0);
    if (address != 0) reads_ = *reinterpret_cast<const std::shared_ptr<RemoteReads>*>(address);
  }

  RemoteReads* reads_of(const std::string& path) const {
    return reads_ != nullptr && is_url(path) ? reads_.get() : nullptr;
  }

  // Null unless neighbouring parts may be read by one request.
  std::shared_ptr<RemoteReads> joining_reads() const {
    return reads_ != nullptr && reads_->joins() ? reads_ : nullptr;
  }

 private:
  std::shared_ptr<RemoteReads> reads_;
};

// A file never hangs the thread that opens it. An object is requested when bytes are read: a part
// if `read_at` comes first, the whole if `size` or `read` do, or what `load` says. Only one thread
// may do the latter.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path, const Storage& storage = {})
      : path_(path), remote_(storage.reads_of(path)) {
    if (remote_ != nullptr) return;
    do {
      // Without O_NONBLOCK a named pipe would hang the thread here.
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0 && is_url(path)) refuse_url();
    if (descriptor_ < 0) fail("must be readable");
  }
  // A file of a cache, which counts only if it is as `open_cache_file` has it.
  struct OfCache {};
  OpenFile(const std::string& path, OfCache)
      : path_(path), descriptor_(open_cache_file(path.c_str())) {
    if (descriptor_ < 0) fail("must be readable");
  }
  // An object of a size that is known.
  OpenFile(const std::string& url, RemoteReads& remote, int64_t size)
      : path_(url), remote_(&remote), size_(size) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_remote() const { return remote_ != nullptr; }

  // Whether the part may be there: of an object, this shows when it is read.
  bool may_have(int64_t offset, int64_t bytes) const {
    return is_remote() || (offset <= size() && bytes <= size() - offset);
  }

  // Requests a part of an object at once, of which others are read then.
  void load(int64_t offset, int64_t bytes) const {
    if (remote_ == nullptr) return;
    loaded_ = remote_->read(path_, offset, bytes);
  }

  // Reads parts of what was requested already, of this object.
  void lend(std::shared_ptr<const RemoteReads::Request> loaded) const {
    loaded_ = std::move(loaded);
  }

  int64_t size() const {
    if (remote_ != nullptr) {
      if (size_ < 0) {
        load(0, RemoteReads::kWhole);
        size_ = loaded_->bytes().size;
      }
      return size_;
    }
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) fail("must be readable");
    if (!S_ISREG(status.st_mode)) {
      errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
      fail("must be a regular file");
    }
    return status.st_size;
  }

  void read(char* target, int64_t bytes) const {
    if (remote_ != nullptr) return read_at(0, target, std::min(bytes, size()));
    while (bytes > 0) {
      const ssize_t count = ::read(descriptor_, target, static_cast<size_t>(bytes));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("must be readable");
      if (count == 0) refuse_shrunk();
      target += count;
      bytes -= count;
    }
  }

  // A part of an object, and perhaps more of it; several threads may ask at once.
  std::shared_ptr<const RemoteReads::Request> part(int64_t offset, int64_t bytes) const {
    const bool is_loaded = loaded_ != nullptr && loaded_->has(offset, bytes);
    auto found = is_loaded ? loaded_ : remote_->read(path_, offset, bytes);
    if (!found->has(offset, bytes)) refuse_short(offset, bytes - found->bytes().size);
    return found;
  }

  // Reads a part; several threads may do so at once.
  void read_at(int64_t offset, char* target, int64_t bytes) const {
    if (remote_ != nullptr) return read_remote(offset, target, bytes);
    while (bytes > 0) {
      const ssize_t count = ::pread(descriptor_, target, static_cast<size_t>(bytes), offset);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("must be readable");
      if (count == 0) refuse_short(offset, bytes);
      target += count;
      bytes -= count;
      offset += count;
    }
  }

 private:
  void read_remote(int64_t offset, char* target, int64_t bytes) const {
    if (bytes <= 0) return;
    const auto found = part(offset, bytes);
    std::memcpy(target, found->bytes().data + (offset - found->offset), static_cast<size_t>(bytes));
  }

  [[noreturn]] static void refuse_short(int64_t offset, int64_t missing) {
    throw std::runtime_error(
        "the file must have " + std::to_string(missing) + " more bytes at byte " +
        std::to_string(offset) +
        " (it ends there). It is cut off, or has changed since it was opened or indexed.");
  }

  [[noreturn]] void refuse_url() const {
    throw std::runtime_error("the path must be a local file (got the URL \"" + path_ +
                             "\", which this operator cannot read). Read it with "
                             "fn.readers.file, or copy it to this machine.");
  }

  [[noreturn]] static void refuse_shrunk() {
    throw std::runtime_error("the file must not shrink while it is read (it did).");
  }

  [[noreturn]] void fail(const char* rule) const {
    throw std::runtime_error(std::string("the file ") + rule + " (got \"" + path_ +
                             "\": " + std::strerror(errno) + "). Check the path and permissions.");
  }

  std::string path_;
  int descriptor_ = -1;
  RemoteReads* remote_ = nullptr;
  mutable int64_t size_ = -1;  // of an object
  mutable std::shared_ptr<const RemoteReads::Request> loaded_;
};

// Reads elements of a file into output `i` of a sample. What came with a request is not copied,
// unless it is a small part of it, which would keep the rest in memory.
inline void read_output(SampleContext& sample, int i, const OpenFile& file, int64_t offset,
                        int64_t count, DataType type = DataType::kUInt8) {
  constexpr int64_t kMinShared = 64 << 10;
  const int64_t unit = size_of(type), bytes = count * unit;
  if (file.is_remote() && bytes >= kMinShared) {
    const auto part = file.part(offset, bytes);
    // It has no other user, or writers check for that: see exclusive_memory.hpp.
    char* const data = const_cast<char*>(part->bytes().data) + (offset - part->offset);
    if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(unit) == 0) {
      Tensor shared;
      shared.storage = std::shared_ptr<void>(part, data);
      shared.data = data;
      shared.type = type;
      shared.shape = {count};
      sample.forward(i, shared);
      return;
    }
  }
  Tensor& output = sample.output(i, type, {count});
  if (bytes > 0) file.read_at(offset, output.as<char>(), bytes);
}

}  // namespace dali_core
