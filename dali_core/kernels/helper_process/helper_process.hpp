// What is needed to let another process, which may break down, work for this one.
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

// The same descriptor under a number that is not used by convention, or the negative error.
int move_up(int descriptor);

// Starts a program that gets `descriptors` as 3, 4, ..., and neither the terminal nor its signals.
// They must have been moved up. Gives 0 or the error.
int start_helper(const std::vector<std::string>& command, const std::vector<int>& descriptors,
                 ::pid_t& process);

// Waits until a process of ours has ended. Gives its status as waitpid does, or 0.
int wait_for_helper(::pid_t process) noexcept;

// Receives one message of a socket that keeps their bounds, whatever signals arrive meanwhile.
// Returns its size, 0 if the other end is gone, or -1 as recv does. `flags` are those of recv.
ssize_t receive_message(int socket, void* message, size_t size, int flags = 0);

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
