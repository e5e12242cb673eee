#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

#include "dali_core/operators/video/native_worker/container.hpp"
#include "dali_core/operators/video/native_worker/indexing.hpp"
#include "dali_core/operators/video/native_worker/limits.hpp"
#include "dali_core/operators/video/native_worker/serving.hpp"

namespace dali_core {
namespace {

constexpr double kBytesPerSecond = 1 << 24;
constexpr char kIsIndex = 'i', kIsError = 'e';

bool read_whole(void* target, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t count = ::read(0, static_cast<char*>(target) + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

bool write_whole(const std::string& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(1, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

std::string answer(const std::string& path, double seconds) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return kIsError + std::string(std::strerror(errno));
  try {
    limit_seconds(seconds + static_cast<double>(status.st_size) / kBytesPerSecond);
    return kIsIndex + build_index(path).to_bytes();
  } catch (const VideoFileError& error) {
    return kIsError + std::string(error.what());
  }
}

}  // namespace

int serve_indices(double seconds) {
  prepare_limits();
  uint32_t size;
  while (read_whole(&size, sizeof size)) {
    std::string path(size, '\0');
    if (!read_whole(path.data(), path.size())) return 0;
    const std::string body = answer(path, seconds);
    limit_seconds(0);
    const auto length = static_cast<uint32_t>(body.size());
    std::string message(reinterpret_cast<const char*>(&length), sizeof length);
    if (!write_whole(message + body)) return 0;
  }
  return 0;
}

}  // namespace dali_core
