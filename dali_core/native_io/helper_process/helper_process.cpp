#include "dali_core/native_io/helper_process/helper_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

extern char** environ;

namespace dali_core {
namespace {

constexpr int kHelperSocket = 3;

// Arguments of posix_spawn: the inherited descriptor, and a process group of its own, so that
// Ctrl-C in the terminal does not reach it.
class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, kHelperSocket);
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

int start_helper(const std::vector<std::string>& command, int& socket, ::pid_t& process) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  // Under another number than the helper's, or else it would be closed when that starts.
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kHelperSocket + 1);
  ::pid_t started = 0;
  const int error = theirs < 0 ? errno : SpawnSettings(theirs).spawn(command, started);
  if (theirs >= 0) ::close(theirs);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return error;
  }
  socket = ends[0];
  process = started;
  return 0;
}

int wait_for_helper(::pid_t process) noexcept {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return status;
}

int send_message(int socket, const void* message, size_t size,
                 const std::vector<int>& descriptors) {
  iovec part{const_cast<void*>(message), size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  if (!descriptors.empty()) {
    const size_t bytes = descriptors.size() * sizeof(int);
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  while (::sendmsg(socket, &header, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return errno;
  return 0;
}

ssize_t receive_message(int socket, void* message, size_t size, std::vector<int>& descriptors) {
  iovec part{message, size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t count;
  do count = ::recvmsg(socket, &header, 0);
  while (count < 0 && errno == EINTR);
  descriptors.clear();
  const cmsghdr* const rights = count < 0 ? nullptr : CMSG_FIRSTHDR(&header);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS) return count;
  descriptors.resize((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(descriptors.data(), CMSG_DATA(rights), descriptors.size() * sizeof(int));
  return count;
}

ssize_t receive_message(int socket, void* message, size_t size, int flags) {
  ssize_t count;
  do count = ::recv(socket, message, size, flags);
  while (count < 0 && errno == EINTR);
  return count;
}

}  // namespace dali_core
