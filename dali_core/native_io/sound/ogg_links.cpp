// Pages: RFC 3533, section 6.
#include "dali_core/native_io/sound/ogg_links.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/native_io/sound/sound_layout.hpp"

namespace dali_core {
namespace {

constexpr int64_t kHeader = 27;
constexpr int64_t kFlags = 5, kPosition = 6, kChecksum = 22, kNumSegments = 26;
constexpr int64_t kAll = int64_t{1} << 62;
constexpr unsigned char kFirstPage = 2, kLastPage = 4;

unsigned char byte_at(const SoundBytes& file, int64_t at) {
  return static_cast<unsigned char>(file.bytes[at]);
}

// By how much the checksum of a page changes with a bit of its flags. It is the remainder of a
// division of polynomials, so that depends on nothing else.
uint32_t checksum_of_flag(unsigned char flag, int64_t page_size) {
  uint32_t remainder = 0;
  for (int64_t i = kFlags; i < page_size; ++i) {
    remainder ^= i == kFlags ? uint32_t{flag} << 24 : 0;
    for (int bit = 0; bit < 8; ++bit)
      remainder = remainder << 1 ^ (remainder >> 31 != 0 ? 0x04c11db7u : 0);
  }
  return remainder;
}

// Samples behind the last one are only left out before a mark of the end, which recordings lack
// that were interrupted.
void mark_end(SoundBytes& link, int64_t page, int64_t page_size) {
  const unsigned char flags = byte_at(link, page + kFlags);
  if (flags & kLastPage) return;
  link.replaced_at = page + kFlags;
  link.replaced_size = kChecksum + 4 - kFlags;
  std::memcpy(link.replacement.data(), link.bytes + link.replaced_at,
              static_cast<size_t>(link.replaced_size));
  link.replacement[0] = static_cast<char>(flags | kLastPage);
  const uint32_t change = checksum_of_flag(kLastPage, page_size);
  for (int i = 0; i < 4; ++i)
    link.replacement[static_cast<size_t>(kChecksum - kFlags + i)] ^=
        static_cast<char>(change >> 8 * i & 0xff);
}

}  // namespace

OggLinks split_ogg(const SoundBytes& file) {
  OggLinks result;
  int64_t begin = 0, end = 0, last_page = 0;
  int64_t counted[2] = {0, 0};  // samples up to the ends of the last two pages
  bool has_data = false;
  const auto add_link = [&] {
    if (end == begin) return;
    result.links.push_back(file.part(begin, end));
    mark_end(result.links.back(), last_page - begin, end - last_page);
  };
  for (int64_t at = 0; file.size - at >= kHeader;) {
    if (std::memcmp(file.bytes + at, "OggS", 4) != 0) {
      ++at;
      continue;
    }
    const int64_t num_segments = byte_at(file, at + kNumSegments);
    int64_t size = kHeader + num_segments;
    const int64_t listed = std::min(num_segments, file.size - at - kHeader);
    for (int64_t i = 0; i < listed; ++i) size += byte_at(file, at + kHeader + i);
    if (size > file.size - at) {
      result.damage = missing_bytes("page", file.size - at, size);
      break;
    }
    // A link begins with the first pages of all of its streams.
    const bool is_first = (byte_at(file, at + kFlags) & kFirstPage) != 0;
    if (is_first && has_data) {
      add_link();
      begin = at;
    }
    has_data = !is_first;
    last_page = at;
    counted[0] = counted[1];
    std::memcpy(&counted[1], file.bytes + at + kPosition, sizeof counted[1]);
    end = at += size;
  }
  add_link();
  const bool is_counted = counted[0] >= 0 && counted[1] >= counted[0];
  result.last_page_samples = is_counted ? std::min(counted[1] - counted[0], kAll) : kAll;
  return result;
}

}  // namespace dali_core
