// Files of caches, in folders that others may write to: see _cache_files.py, which has the same
// rules.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dali_core {

// Whether a file or folder is one of this user or of root.
inline bool is_trusted_owner(const struct stat& status) {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

// Opens a file for reading, without waiting and without following a link. Returns -1 and sets
// `errno` unless it is a regular file of this user or of root.
inline int open_cache_file(const char* path) {
  int descriptor = -1;
  do {
    descriptor = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return -1;
  struct stat status;
  const bool is_known = ::fstat(descriptor, &status) == 0;
  if (is_known && S_ISREG(status.st_mode) && is_trusted_owner(status)) return descriptor;
  const int problem = !is_known ? errno : S_ISREG(status.st_mode) ? EPERM : EINVAL;
  ::close(descriptor);
  errno = problem;
  return -1;
}

}  // namespace dali_core
