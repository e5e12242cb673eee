// The bytes that libsndfile reads: part of a file, a few of them replaced.
#pragma once

#include <array>
#include <cstdint>

#include "dali_core/native_io/sound/sound_library.hpp"

namespace dali_core {

struct SoundBytes {
  const char* bytes = nullptr;
  int64_t size = 0;
  // False where the decoder derives a number of frames from the file's size: the reported size is
  // larger then, and decoding ends when a read returns no more bytes.
  bool knows_end = true;

  // What is read in the place of some bytes of a header.
  std::array<char, 24> replacement = {};
  int64_t replaced_at = 0;
  int64_t replaced_size = 0;

  int64_t place = 0;

  SoundBytes part(int64_t begin, int64_t end) const {
    SoundBytes result = *this;
    result.bytes += begin;
    result.size = end - begin;
    return result;
  }
  void replace(int64_t at, uint64_t number, int64_t count, bool big_endian);

  // Functions that read from the object which is their context.
  static SoundInput input();
};

}  // namespace dali_core
