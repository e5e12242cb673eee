// The limit of host memory that may be allocated.
//
// Systems overcommit memory and kill the process that uses it, so requests beyond the limit are
// refused beforehand.
#pragma once

#include <cstddef>
#include <new>
#include <string>

namespace dali_core {

// There is not that much memory.
class OutOfMemory : public std::bad_alloc {
 public:
  OutOfMemory(std::size_t bytes, std::size_t most_bytes);
  const char* what() const noexcept override { return message_; }

 private:
  char message_[224];
};

// The least limit of a control group and of those around it; `file` has that of each.
std::size_t control_group_limit(const std::string& root, std::string group,
                                const std::string& file);

// The machine's memory, or what control groups leave of it; DALI_CORE_MEMORY_LIMIT overrides both.
std::size_t host_memory_limit();

// For memory that does not come from a pool, such as a vector of a size that arguments tell.
void require_host_memory(std::size_t bytes);

}  // namespace dali_core
