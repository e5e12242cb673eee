#include "dali_core/kernels/helper_process/helper_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

extern char** environ;

namespace dali_core {
namespace {

constexpr int kFirstDescriptor = 3;
constexpr int kFirstMoved = 16;

// Arguments of posix_spawn: the inherited descriptors, and a process group of its own, so that
// Ctrl-C in the terminal does not reach it.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::vector<int>& descriptors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    // All are far above those that they become, so that none overwrites another.
    int target = kFirstDescriptor;
    for (const int descriptor : descriptors)
      ::posix_spawn_file_actions_adddup2(&actions_, descriptor, target++);
    ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    for (const int output : {1, 2})
      ::posix_spawn_file_actions_addopen(&actions_, output, "/dev/null", O_WRONLY, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  int spawn(const std::vector<std::string>& command, ::pid_t& process) const {
    std::vector<char*> arguments;
    for (const std::string& argument : command)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    return ::posix_spawn(&process, arguments[0], &actions_, &attributes_, arguments.data(),
                         environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

int move_up(int descriptor) {
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstMoved);
  const int error = errno;
  ::close(descriptor);
  return moved < 0 ? -error : moved;
}

int start_helper(const std::vector<std::string>& command, const std::vector<int>& descriptors,
                 ::pid_t& process) {
  return SpawnSettings(descriptors).spawn(command, process);
}

int wait_for_helper(::pid_t process) noexcept {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return status;
}

ssize_t receive_message(int socket, void* message, size_t size, int flags) {
  ssize_t count;
  do count = ::recv(socket, message, size, flags);
  while (count < 0 && errno == EINTR);
  return count;
}

}  // namespace dali_core
