// Names compressed files and archives that are met where other files are expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dali_core {

// The name of what begins in this way; null if it is nothing of this kind.
inline const char* compressed_kind(const uint8_t* bytes, int64_t size) {
  const auto begins = [&](const char* mark, size_t length) {
    return size >= static_cast<int64_t>(length) && std::memcmp(bytes, mark, length) == 0;
  };
  if (begins("\x1F\x8B", 2)) return "a file compressed by gzip";
  if (begins("BZh", 3)) return "a file compressed by bzip2";
  if (begins("\xFD"
             "7zXZ\0",
             6))
    return "a file compressed by xz";
  if (begins("\x28\xB5\x2F\xFD", 4)) return "a file compressed by Zstandard";
  if (begins("PK\x03\x04", 4)) return "a ZIP archive";
  return nullptr;
}

}  // namespace dali_core
