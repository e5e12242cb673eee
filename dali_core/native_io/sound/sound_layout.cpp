// FLAC: RFC 9639. WAVE: "Multimedia Programming Interface and Data Specifications
// 1.0"; RF64: EBU Tech 3306. CAF: Apple's "Core Audio Format Specification 1.0".
#include "dali_core/native_io/sound/sound_layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "dali_core/native_io/files/compressed_kind.hpp"
#include "dali_core/native_io/sound/ogg_links.hpp"
#include "dali_core/native_io/sound/sound_tags.hpp"

namespace dali_core {
namespace {

constexpr int64_t kMost32 = 0xffffffff;

uint64_t number_at(const char* bytes, int64_t at, int count, bool big_endian) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) {
    const int byte = big_endian ? i : count - 1 - i;
    value = value << 8 | static_cast<unsigned char>(bytes[at + byte]);
  }
  return value;
}

std::string_view text_at(const SoundBytes& file, int64_t at, int64_t count) {
  if (at < 0 || at > file.size || count > file.size - at) return {};
  return {file.bytes + at, static_cast<size_t>(count)};
}

// Whether chunks of a RIFF file follow one another from `at` to the end.
bool are_chunks(const SoundBytes& file, int64_t at, bool big_endian) {
  while (file.size - at >= 8) {
    for (const char letter : text_at(file, at, 4))
      if (letter < ' ' || letter > '~') return false;
    const auto size = static_cast<int64_t>(number_at(file.bytes, at + 4, 4, big_endian));
    at += 8 + size + size % 2;
    if (at > file.size + 1) return false;
  }
  return at >= file.size;
}

// The data of a RIFF file end where they say, or with the file; what follows is not looked at.
void bound_riff(SoundBytes& file) {
  const bool big_endian = text_at(file, 0, 4) == "RIFX";
  int64_t sizes = 0;  // of RF64, 64-bit sizes
  for (int64_t at = 12; file.size - at >= 8;) {
    const std::string_view name = text_at(file, at, 4);
    const uint64_t size = number_at(file.bytes, at + 4, 4, big_endian);
    if (name == "ds64" && file.size - at >= 8 + 24) sizes = at + 8;
    const int64_t begin = at + 8;
    if (name == "data") {
      const bool is_long = sizes > 0 && text_at(file, 0, 4) != "RIFF";
      const uint64_t whole = is_long ? number_at(file.bytes, sizes + 8, 8, false) : size;
      const auto room = static_cast<uint64_t>(file.size - begin);
      if (whole > 0 && whole < room) {
        file.size = begin + static_cast<int64_t>(whole);
      } else if (whole > room || (room > 0 && !are_chunks(file, begin, big_endian))) {
        if (is_long)
          file.replace(sizes + 8, room, 8, false);
        else
          file.replace(at + 4, std::min<uint64_t>(room, kMost32), 4, big_endian);
      }
      return;
    }
    at = begin + static_cast<int64_t>(size + size % 2);
  }
}

// Chunks begin at multiples of eight bytes, and their sizes count the header.
void bound_w64(SoundBytes& file) {
  constexpr int64_t kHeader = 24;
  for (int64_t at = 40; at >= 0 && file.size - at > kHeader;) {
    const auto size = static_cast<int64_t>(number_at(file.bytes, at + 16, 8, false));
    if (text_at(file, at, 4) == "data") {
      if (size > kHeader && size < file.size - at) file.size = at + size;
      return;
    }
    if (size < kHeader || size > file.size - at) return;
    at += (size + 7) / 8 * 8;
  }
}

void bound_caf(SoundBytes& file) {
  constexpr int64_t kHeader = 12;
  for (int64_t at = 8; file.size - at > kHeader;) {
    const auto size = static_cast<int64_t>(number_at(file.bytes, at + 4, 8, true));
    const int64_t room = file.size - at - kHeader;
    if (text_at(file, at, 4) == "data") {
      if (size <= 0 || size > room) file.replace(at + 4, static_cast<uint64_t>(room), 8, true);
      return;
    }
    if (size < 0 || size > room) return;
    at += kHeader + size;
  }
}

void bound_au(SoundBytes& file) {
  if (file.size < 24) return;
  const auto begin = static_cast<int64_t>(number_at(file.bytes, 4, 4, true));
  const int64_t room = file.size - begin;
  const auto size = static_cast<int64_t>(number_at(file.bytes, 8, 4, true));
  if (room > 0 && (size == 0 || size > room))
    file.replace(8, static_cast<uint64_t>(std::min(room, kMost32)), 4, true);
}

// The number of samples in STREAMINFO, of 36 bits, is taken away.
void open_flac(SoundBytes& file, SoundLayout& layout) {
  constexpr int64_t kTotal = 21;
  if (file.size < kTotal + 5) return;
  const uint64_t bits = number_at(file.bytes, kTotal, 5, true);
  const uint64_t total = bits & ((uint64_t{1} << 36) - 1);
  if (total > 0) layout.counted = static_cast<int64_t>(total);
  layout.needs_all = total == 0;
  file.replace(kTotal, bits - total, 5, true);
}

void open_mpeg(const SoundBytes& file, SoundLayout& layout) {
  layout.mpeg = find_mpeg_audio(file.bytes, file.size);
  if (!layout.mpeg) {
    layout.links.push_back(file);
    return;
  }
  const MpegAudio& mpeg = *layout.mpeg;
  layout.links.push_back(file.part(mpeg.begin, mpeg.end));
  layout.links.back().knows_end = false;
  if (mpeg.is_cut) layout.damage = missing_bytes("frame", file.size - mpeg.end, mpeg.cut_size);
  if (mpeg.num_frames > 0)
    layout.counted =
        std::max<int64_t>(0, mpeg.num_frames * mpeg.frame_samples - mpeg.delay - mpeg.padding);
}

bool looks_like_mpeg(const SoundBytes& file) {
  return file.size > 1 && static_cast<unsigned char>(file.bytes[0]) == 0xff &&
         (static_cast<unsigned char>(file.bytes[1]) & 0xe0) == 0xe0;
}

}  // namespace

std::string missing_bytes(const char* what, int64_t has, int64_t wanted) {
  return std::string("the last ") + what + " of the audio must be whole (got " +
         std::to_string(has) + " of " + std::to_string(wanted) +
         " bytes). The file is damaged or cut short.";
}

SoundLayout find_sound(const char* bytes, int64_t size) {
  SoundLayout layout;
  const int64_t tag = leading_tag_size(bytes, size);
  SoundBytes file;
  file.bytes = bytes + tag;
  file.size = size - tag;
  const std::string_view name = text_at(file, 0, 4);
  if (name == "fLaC" || tag > 0 || looks_like_mpeg(file))
    file.size -= trailing_tag_size(file.bytes, file.size);
  if (name == "OggS") {
    OggLinks ogg = split_ogg(file);
    layout.links = std::move(ogg.links);
    layout.damage = std::move(ogg.damage);
    layout.inexact_at_end = ogg.last_page_samples;
  } else if (name == "RIFF" || name == "RIFX" || name == "RF64") {
    bound_riff(file);
  } else if (name == "riff") {
    bound_w64(file);
  } else if (name == "caff") {
    bound_caf(file);
  } else if (name == ".snd") {
    bound_au(file);
  } else if (name == "fLaC") {
    open_flac(file, layout);
  } else if (name != "FORM" && (tag > 0 || looks_like_mpeg(file))) {
    open_mpeg(file, layout);
  } else if (name != "FORM") {
    // The other formats of libsndfile are seldom met and seldom tested, and bytes choose their
    // decoder.
    const char* const kind =
        compressed_kind(reinterpret_cast<const uint8_t*>(bytes), static_cast<int64_t>(size));
    throw std::invalid_argument(
        "the bytes must be audio of a known format, such as WAV, FLAC, Ogg or MP3 (got " +
        (kind ? std::string(kind) : std::to_string(size) + " bytes of something else") +
        "). Check the file.");
  }
  if (layout.links.empty()) layout.links.push_back(file);
  return layout;
}

}  // namespace dali_core
