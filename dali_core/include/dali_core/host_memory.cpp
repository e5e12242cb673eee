#include "dali_core/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace dali_core {
namespace {

// The number in a file, or the largest one if there is none.
std::size_t number_in_file(const std::string& path) {
  std::size_t number = SIZE_MAX;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
    if (std::fscanf(file, "%zu", &number) != 1) number = SIZE_MAX;
    std::fclose(file);
  }
  return number;
}

}  // namespace

std::size_t control_group_limit(const std::string& root, std::string group,
                                const std::string& file) {
  std::size_t least = SIZE_MAX;
  for (;;) {
    least = std::min(least, number_in_file(root + group + "/" + file));
    const std::size_t parent = group.rfind('/');
    if (parent == std::string::npos) return least;
    group.resize(parent);
  }
}

namespace {

// Of the control groups that the process is in, of both versions.
std::size_t control_groups_limit() {
  std::size_t least = SIZE_MAX;
  std::FILE* groups = std::fopen("/proc/self/cgroup", "re");
  if (groups == nullptr) return least;
  char line[4096];
  while (std::fgets(line, sizeof(line), groups)) {
    line[std::strcspn(line, "\n")] = 0;
    if (const char* group = std::strstr(line, ":memory:"))
      least = std::min(
          least, control_group_limit("/sys/fs/cgroup/memory", group + 8, "memory.limit_in_bytes"));
    else if (std::strncmp(line, "0::", 3) == 0)
      least = std::min(least, control_group_limit("/sys/fs/cgroup", line + 3, "memory.max"));
  }
  std::fclose(groups);
  return least;
}

std::size_t choose_host_memory_limit() {
  if (const char* wish = std::getenv("DALI_CORE_MEMORY_LIMIT"); wish && *wish) {
    char* end = nullptr;
    const unsigned long long bytes = std::strtoull(wish, &end, 10);
    if (*wish < '0' || *wish > '9' || *end != 0)
      throw std::runtime_error("DALI_CORE_MEMORY_LIMIT must be a number of bytes (got \"" +
                               std::string(wish) + "\"). Unset it to use what the machine has.");
    return static_cast<std::size_t>(bytes);
  }
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  const std::size_t physical =
      pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                            : SIZE_MAX;
  return std::min(physical, control_groups_limit());
}

}  // namespace

OutOfMemory::OutOfMemory(std::size_t bytes, std::size_t most_bytes) {
  std::snprintf(message_, sizeof(message_),
                "memory must be available (got none for %zu bytes; at most %zu may be in use). "
                "Use smaller batches or samples, or set DALI_CORE_MEMORY_LIMIT if there is more.",
                bytes, most_bytes);
}

std::size_t host_memory_limit() {
  static const std::size_t limit = choose_host_memory_limit();
  return limit;
}

void require_host_memory(std::size_t bytes) {
  if (bytes > host_memory_limit()) throw OutOfMemory(bytes, host_memory_limit());
}

}  // namespace dali_core
