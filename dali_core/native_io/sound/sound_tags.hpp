// Titles and pictures around the sound: ID3v2 in front, and ID3v1, APE and Lyrics3 behind.
#pragma once

#include <cstdint>

namespace dali_core {

// Bytes of all tags at the beginning; 0 if there is none.
int64_t leading_tag_size(const char* bytes, int64_t size);

// Bytes of all tags at the end.
int64_t trailing_tag_size(const char* bytes, int64_t size);

}  // namespace dali_core
