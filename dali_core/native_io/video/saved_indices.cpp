#include "dali_core/native_io/video/saved_indices.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <type_traits>

#include "dali_core/native_io/helper_process/helper_process.hpp"
#include "dali_core/native_io/video/video_process.hpp"

namespace dali_core {
namespace {

constexpr int kSeconds = 10;  // that an answer may take, longer than the helper waits for a lock
constexpr size_t kMaxPath = 1 << 14;
constexpr size_t kMaxIndex = size_t{1} << 30;  // about what a database takes

enum Kind : uint32_t { kLoad, kStore };

// Must have the order and the types of COMMAND and REPLY in saved_indices.py.
struct Command {
  uint64_t number;
  int64_t size;
  int64_t changed;
  uint64_t index_bytes;  // that there are, or that there is memory for
  uint32_t kind;
  uint32_t path_bytes;
};
static_assert(std::is_trivially_copyable_v<Command> && sizeof(Command) == 40);

struct Reply {
  uint64_t number;
  uint64_t index_bytes;
};
static_assert(std::is_trivially_copyable_v<Reply> && sizeof(Reply) == 16);

}  // namespace

void SavedIndices::start(const std::vector<std::string>& command) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (command == command_) return;
  stop();
  command_ = command;
  if (command.empty() || start_helper(command, socket_, process_) != 0) return;
  const timeval most{kSeconds, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
}

size_t SavedIndices::load(const FileVersion& file, FrameBuffer& buffer) {
  size_t bytes = ask(kLoad, file, buffer, buffer.size());
  if (bytes > buffer.size()) {
    buffer.grow(bytes);
    bytes = ask(kLoad, file, buffer, buffer.size());
  }
  return bytes <= buffer.size() ? bytes : 0;
}

void SavedIndices::store(const FileVersion& file, const FrameBuffer& buffer, size_t bytes) {
  ask(kStore, file, buffer, bytes);
}

size_t SavedIndices::ask(uint32_t kind, const FileVersion& file, const FrameBuffer& buffer,
                         size_t bytes) {
  if (file.path.size() > kMaxPath) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (socket_ < 0) return 0;
  const Command asked{++number_, file.size, file.changed,
                      bytes,     kind,      static_cast<uint32_t>(file.path.size())};
  std::string message(reinterpret_cast<const char*>(&asked), sizeof asked);
  message += file.path;
  Reply reply;
  if (send_message(socket_, message.data(), message.size(), {buffer.descriptor()}) != 0 ||
      receive_reply<Reply>(socket_, number_, &reply, sizeof reply) !=
          static_cast<ssize_t>(sizeof reply)) {
    stop();
    return 0;
  }
  return reply.index_bytes <= kMaxIndex ? reply.index_bytes : 0;
}

void SavedIndices::stop() noexcept {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    wait_for_helper(process_);
  }
  process_ = 0;
}

}  // namespace dali_core
