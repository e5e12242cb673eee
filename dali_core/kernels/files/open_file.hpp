// A file that is read whole or in parts, and never hangs the thread that opens it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

namespace dali_core {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : path_(path) {
    do {
      // Without O_NONBLOCK a named pipe would hang the thread here.
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) fail("must be readable");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int64_t size() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0) fail("must be readable");
    if (!S_ISREG(status.st_mode)) {
      errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
      fail("must be a regular file");
    }
    return status.st_size;
  }

  void read(char* target, int64_t bytes) const {
    while (bytes > 0) {
      const ssize_t count = ::read(descriptor_, target, static_cast<size_t>(bytes));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("must be readable");
      if (count == 0) refuse_shrunk();
      target += count;
      bytes -= count;
    }
  }

  // Reads a part; several threads may do so at once.
  void read_at(int64_t offset, char* target, int64_t bytes) const {
    while (bytes > 0) {
      const ssize_t count = ::pread(descriptor_, target, static_cast<size_t>(bytes), offset);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("must be readable");
      if (count == 0)
        throw std::runtime_error(
            "the file must have " + std::to_string(bytes) + " more bytes at byte " +
            std::to_string(offset) +
            " (it ends there). It is cut off, or has changed since it was opened or indexed.");
      target += count;
      bytes -= count;
      offset += count;
    }
  }

 private:
  [[noreturn]] static void refuse_shrunk() {
    throw std::runtime_error("the file must not shrink while it is read (it did).");
  }

  [[noreturn]] void fail(const char* rule) const {
    throw std::runtime_error(std::string("the file ") + rule + " (got \"" + path_ +
                             "\": " + std::strerror(errno) + "). Check the path and permissions.");
  }

  std::string path_;
  int descriptor_;
};

}  // namespace dali_core
