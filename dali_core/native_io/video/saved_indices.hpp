// Indices of videos that are kept between runs. A helper process has the database: it needs neither
// the GIL nor a library of this process.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace dali_core {

class FrameBuffer;

// What a file is known by.
struct FileVersion {
  std::string path;  // absolute
  int64_t size = 0;
  int64_t changed = 0;  // nanoseconds
};

// Threads may use it at the same time. What is wrong with it never shows but in time: a helper that
// fails is not started again.
class SavedIndices {
 public:
  ~SavedIndices() { stop(); }

  // Has a helper that this command starts, from now on. It does not wait until the helper is ready.
  void start(const std::vector<std::string>& command);
  // Copies an index to the start of the buffer, which grows for it. Returns its bytes, of which
  // nothing has been checked, or 0 if there is none.
  size_t load(const FileVersion& file, FrameBuffer& buffer);
  // Saves what is at the start of the buffer, if the helper finds that it is an index.
  void store(const FileVersion& file, const FrameBuffer& buffer, size_t bytes);

 private:
  // Returns what the helper answers, or 0.
  size_t ask(uint32_t kind, const FileVersion& file, const FrameBuffer& buffer, size_t bytes);
  void stop() noexcept;

  std::mutex mutex_;
  std::vector<std::string> command_;  // that it was started with
  ::pid_t process_ = 0;
  int socket_ = -1;
  uint64_t number_ = 0;
};

}  // namespace dali_core
