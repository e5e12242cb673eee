// Videos that are bytes in memory: what they are known by, and how other processes get them.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

namespace dali_core {

// 128 bits of a hash whose key is secret, so that no two files can be made to look alike.
inline std::string hash_of_video(const uint8_t* data, int64_t size) {
  static const uint64_t key = reinterpret_cast<uintptr_t>(&size) ^ (uint64_t{1} << 63 | 1) ^
                              static_cast<uint64_t>(::getpid()) * 0x9e3779b97f4a7c15ull;
  constexpr uint64_t kOdd[2] = {0x9e3779b97f4a7c15ull, 0xc2b2ae3d27d4eb4full};
  uint64_t lanes[2] = {key, ~key};
  const auto mix = [&](uint64_t word) {
    for (int i = 0; i < 2; ++i) {
      const unsigned __int128 product =
          static_cast<unsigned __int128>(lanes[i] ^ word) * (kOdd[i] ^ key);
      lanes[i] = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^
                 (lanes[i] << 29 | lanes[i] >> 35);
    }
  };
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    mix(word);
  }
  uint64_t word = 0;
  if (i < size) std::memcpy(&word, data + i, static_cast<size_t>(size - i));
  mix(word);
  mix(static_cast<uint64_t>(size));
  return std::string(reinterpret_cast<const char*>(lanes), sizeof lanes);
}

// Gives a descriptor of memory that other processes can see.
inline int copy_to_memory(const uint8_t* bytes, int64_t size) {
  const int memory = ::memfd_create("dali_core video", MFD_CLOEXEC);
  if (memory < 0) throw std::bad_alloc();
  for (int64_t done = 0; done < size;) {
    const ssize_t count = ::write(memory, bytes + done, static_cast<size_t>(size - done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      ::close(memory);
      throw std::bad_alloc();
    }
    done += count;
  }
  return memory;
}

inline int duplicate(int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw std::bad_alloc();
  return copy;
}

}  // namespace dali_core
