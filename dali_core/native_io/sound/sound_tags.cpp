// https://id3.org/id3v2.4.0-structure, https://id3.org/ID3v1, https://id3.org/Lyrics3v2,
// https://wiki.hydrogenaud.io/index.php?title=APEv2_specification
#include "dali_core/native_io/sound/sound_tags.hpp"

#include <algorithm>
#include <string_view>

namespace dali_core {
namespace {

bool has(const char* bytes, int64_t size, int64_t at, std::string_view text) {
  return at >= 0 && static_cast<int64_t>(text.size()) <= size - at &&
         std::string_view(bytes + at, text.size()) == text;
}

// Of four bytes with seven bits each; negative if they have more.
int64_t synchsafe(const char* bytes) {
  int64_t value = 0;
  for (int i = 0; i < 4; ++i) {
    if (bytes[i] & 0x80) return -1;
    value = value << 7 | bytes[i];
  }
  return value;
}

int64_t id3v2_size(const char* bytes, int64_t size) {
  constexpr int64_t kHeader = 10;
  if (size < kHeader || !has(bytes, size, 0, "ID3")) return 0;
  const int64_t content = synchsafe(bytes + 6);
  if (content < 0) return 0;
  const bool has_footer = bytes[5] & 0x10;
  return std::min(size, kHeader + content + (has_footer ? kHeader : 0));
}

int64_t ape_size(const char* bytes, int64_t size) {
  constexpr int64_t kFooter = 32;
  if (!has(bytes, size, size - kFooter, "APETAGEX")) return 0;
  const auto* const footer = reinterpret_cast<const unsigned char*>(bytes + size - kFooter);
  const int64_t content =
      footer[12] | footer[13] << 8 | footer[14] << 16 | int64_t{footer[15]} << 24;
  const bool has_header = footer[23] & 0x80;
  const int64_t whole = std::max(kFooter, content) + (has_header ? kFooter : 0);
  return whole <= size ? whole : kFooter;
}

int64_t lyrics_size(const char* bytes, int64_t size) {
  constexpr int64_t kFooter = 15;  // six digits and "LYRICS200"
  if (!has(bytes, size, size - 9, "LYRICS200") || size < kFooter) return 0;
  int64_t content = 0;
  for (int64_t i = size - kFooter; i < size - 9; ++i) {
    if (bytes[i] < '0' || bytes[i] > '9') return 0;
    content = content * 10 + (bytes[i] - '0');
  }
  return content + kFooter <= size ? content + kFooter : kFooter;
}

int64_t id3v1_size(const char* bytes, int64_t size) {
  if (!has(bytes, size, size - 128, "TAG")) return 0;
  return has(bytes, size, size - 128 - 227, "TAG+") ? 128 + 227 : 128;
}

}  // namespace

int64_t leading_tag_size(const char* bytes, int64_t size) {
  int64_t total = 0;
  while (const int64_t tag = id3v2_size(bytes + total, size - total)) total += tag;
  return total;
}

int64_t trailing_tag_size(const char* bytes, int64_t size) {
  int64_t left = size;
  for (;;) {
    int64_t tag = id3v1_size(bytes, left);
    if (tag == 0) tag = ape_size(bytes, left);
    if (tag == 0) tag = lyrics_size(bytes, left);
    if (tag == 0) return size - left;
    left -= tag;
  }
}

}  // namespace dali_core
