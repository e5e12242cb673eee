#include "dali_core/native_io/sound/sound_bytes.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace dali_core {
namespace {

int64_t length_of(void* context) { return static_cast<SoundBytes*>(context)->size; }

// The end that is claimed for what does not know its own, and what lies before it: room for the tag
// that libmpg123 looks for there, which is not in it.
constexpr int64_t kFarEnd = int64_t{1} << 40, kFarTag = 128;

int64_t end_of(const SoundBytes& source) { return source.knows_end ? source.size : kFarEnd; }

int64_t seek_in(int64_t offset, int origin, void* context) {
  SoundBytes& source = *static_cast<SoundBytes*>(context);
  const int64_t base = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? source.place : end_of(source);
  int64_t place;
  if (__builtin_add_overflow(base, offset, &place) || place < 0 || place > end_of(source))
    return -1;
  return source.place = place;
}

int64_t read_from(void* target, int64_t count, void* context) {
  SoundBytes& source = *static_cast<SoundBytes*>(context);
  if (!source.knows_end && source.place >= kFarEnd - kFarTag) {
    const int64_t zeros = std::max<int64_t>(0, std::min(count, kFarEnd - source.place));
    std::memset(target, 0, static_cast<size_t>(zeros));
    source.place += zeros;
    return zeros;
  }
  const int64_t length = std::max<int64_t>(0, std::min(count, source.size - source.place));
  if (length == 0) return 0;
  char* const copied = static_cast<char*>(target);
  std::memcpy(copied, source.bytes + source.place, static_cast<size_t>(length));
  const int64_t first = std::max(source.place, source.replaced_at);
  const int64_t end = std::min(source.place + length, source.replaced_at + source.replaced_size);
  for (int64_t i = first; i < end; ++i)
    copied[i - source.place] = source.replacement[static_cast<size_t>(i - source.replaced_at)];
  source.place += length;
  return length;
}

}  // namespace

void SoundBytes::replace(int64_t at, uint64_t number, int64_t count, bool big_endian) {
  replaced_at = at;
  replaced_size = count;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t shift = 8 * (big_endian ? count - 1 - i : i);
    replacement[static_cast<size_t>(i)] = static_cast<char>(number >> shift & 0xff);
  }
}

SoundInput SoundBytes::input() {
  return {length_of, seek_in, read_from, [](const void*, int64_t, void*) { return int64_t{0}; },
          [](void* context) { return static_cast<SoundBytes*>(context)->place; }};
}

}  // namespace dali_core
