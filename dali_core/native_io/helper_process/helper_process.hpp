// Helper processes, which may crash without ending this one: their start, messages and shared
// memory.
#pragma once

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

namespace dali_core {

// Starts a program that gets the other end of `socket`, which preserves message boundaries, as
// descriptor 3, and neither the terminal nor its signals. Gives 0, or the error and no socket and
// no process.
int start_helper(const std::vector<std::string>& command, int& socket, ::pid_t& process);

// Waits until a process of ours has ended. Gives its status as waitpid does, or 0.
int wait_for_helper(::pid_t process) noexcept;

// At most so many descriptors go with a message.
constexpr size_t kMaxDescriptors = 2;

// Sends one message, and copies of descriptors with it, whatever signals arrive meanwhile. Gives 0
// or the error.
int send_message(int socket, const void* message, size_t size,
                 const std::vector<int>& descriptors = {});

// Receives one message of a socket that preserves message boundaries, whatever signals arrive
// meanwhile. Returns its size, 0 if the other end is gone, or -1 as recv does. `flags` are those of
// recv.
ssize_t receive_message(int socket, void* message, size_t size, int flags = 0);

// The same for one that descriptors come with; they are the receiver's to close.
ssize_t receive_message(int socket, void* message, size_t size, std::vector<int>& descriptors);

// Receives messages that begin with a `Reply` until one answers the command of this number: those
// of commands that were given up may still come. Returns its size, 0 if the other end is gone or
// does not answer as it must, or -1 as recv does.
template <typename Reply>
ssize_t receive_reply(int socket, uint64_t number, void* message, size_t size, int flags = 0) {
  decltype(Reply::number) received;
  ssize_t count;
  do {
    count = receive_message(socket, message, size, flags);
    if (count < static_cast<ssize_t>(sizeof(Reply))) return count < 0 ? -1 : 0;
    std::memcpy(&received, static_cast<char*>(message) + offsetof(Reply, number), sizeof received);
  } while (received != number);
  return count;
}

// The memory behind a file descriptor. It only grows.
class SharedMemory {
 public:
  SharedMemory() = default;
  ~SharedMemory() { unmap(); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

  void map(int descriptor, size_t size) {
    if (size == size_) return;
    unmap();
    void* place = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<uint8_t*>(place);
    size_ = size;
  }

  void unmap() noexcept {
    if (data_ != nullptr) ::munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace dali_core
