// Shared parts of fuzz targets: settings from the start of the input, and memory of exact size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Reads settings from the start of the input; zeros after its end.
class Settings {
 public:
  Settings(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  int below(int limit) { return byte() % limit; }
  bool flag() { return (byte() & 1) != 0; }

  const uint8_t* rest() const { return data_; }
  size_t rest_size() const { return size_; }

 private:
  const uint8_t* data_;
  size_t size_;
};

// A copy in memory of exactly its size, so that reads out of bounds are detected.
class ExactCopy {
 public:
  ExactCopy(const uint8_t* data, size_t size) : memory_(std::malloc(size + (size == 0))) {
    if (size > 0) std::memcpy(memory_.get(), data, size);
  }
  const uint8_t* data() const { return static_cast<const uint8_t*>(memory_.get()); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
};

// Invariants of every input, beyond not crashing.
#define FUZZ_CHECK(condition)                                                         \
  do {                                                                                \
    if (!(condition)) {                                                               \
      std::fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                   \
    }                                                                                 \
  } while (false)
