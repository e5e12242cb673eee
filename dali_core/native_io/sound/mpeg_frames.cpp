// Delay and padding: "Mp3 Info Tag rev 1", http://gabriel.mp3-tech.org/mp3infotag.html. A decoder
// of Layer III adds 529 samples to the delay.
#include "dali_core/native_io/sound/mpeg_frames.hpp"

#include <algorithm>
#include <string_view>

#include "dali_core/native_io/sound/sound_tags.hpp"

namespace dali_core {
namespace {

constexpr int64_t kHeader = 4;
constexpr int64_t kDecoderDelay = 529;

struct FrameHeader {
  int layer = 0;          // 1 to 3
  bool is_first = false;  // MPEG-1; otherwise of half or a quarter of the rates
  bool is_mono = false;
  int64_t size = 0;         // 0: free format
  uint32_t fixed_bits = 0;  // which all frames of a stream share

  int64_t samples() const { return layer == 1 ? 384 : layer == 3 && !is_first ? 576 : 1152; }
};

uint32_t number_at(const char* bytes, int64_t at) {
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes) + at;
  return uint32_t{data[0]} << 24 | data[1] << 16 | data[2] << 8 | data[3];
}

std::optional<FrameHeader> read_header(const char* bytes, int64_t size, int64_t at) {
  static const int kRates[3] = {44100, 48000, 32000};
  // In kbit/s: of MPEG-1 by layer; of the others, Layer I, and Layers II and III.
  static const int kBits[5][15] = {
      {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};
  if (at < 0 || size - at < kHeader) return std::nullopt;
  const uint32_t bits = number_at(bytes, at);
  const uint32_t version = bits >> 19 & 3, layer = bits >> 17 & 3;
  const uint32_t bit_rate = bits >> 12 & 15, rate = bits >> 10 & 3;
  if (bits >> 21 != 0x7ff || version == 1 || layer == 0 || bit_rate == 15 || rate == 3)
    return std::nullopt;
  FrameHeader header;
  header.layer = 4 - static_cast<int>(layer);
  header.is_first = version == 3;
  header.is_mono = (bits >> 6 & 3) == 3;
  header.fixed_bits = bits & 0xfffe0c00;
  const int row = header.is_first ? header.layer - 1 : header.layer == 1 ? 3 : 4;
  const int64_t bits_a_second = int64_t{1000} * kBits[row][bit_rate];
  if (bits_a_second == 0) return header;
  const int64_t samples_a_second = kRates[rate] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
  const int64_t slot = header.layer == 1 ? 4 : 1;
  const int64_t slots = header.samples() * bits_a_second / (8 * slot * samples_a_second);
  header.size = (slots + (bits >> 9 & 1)) * slot;
  return header;
}

// A frame that another one of the stream, or the end, follows; so nothing else looks like it.
bool is_followed(const char* bytes, int64_t size, int64_t at, const FrameHeader& header) {
  if (header.size == 0) return true;
  const int64_t next = at + header.size;
  if (next == size) return true;
  const auto following = read_header(bytes, size, next);
  return following && following->fixed_bits == header.fixed_bits;
}

// Calls `visit` with each frame and its place; returns where the last whole one ends.
template <typename Visit>
int64_t walk(const char* bytes, int64_t size, int64_t at, uint32_t fixed_bits, Visit&& visit) {
  int64_t end = at;
  bool is_lost = false;
  while (at < size - kHeader + 1) {
    const auto header = read_header(bytes, size, at);
    const bool fits = header && header->fixed_bits == fixed_bits && header->size > 0;
    if (fits && (!is_lost || is_followed(bytes, size, at, *header))) {
      is_lost = false;
      visit(*header, at);
      if (header->size > size - at) return end;
      end = at += header->size;
      continue;
    }
    const int64_t tag = leading_tag_size(bytes + at, size - at);
    is_lost = tag == 0;
    at += std::max<int64_t>(tag, 1);
  }
  return end;
}

// What the first frame says about the others, if it is no sound but such a description.
struct Description {
  bool exists = false;
  int64_t num_frames = -1;
  bool has_delay = false;
  int64_t delay = 0, padding = 0;
};

Description read_description(const char* frame, int64_t size, const FrameHeader& header) {
  Description result;
  if (header.layer != 3) return result;
  const auto text = [&](int64_t at, int64_t count) {
    return at + count <= size ? std::string_view(frame + at, static_cast<size_t>(count))
                              : std::string_view();
  };
  if (text(36, 4) == "VBRI") {
    result.exists = true;
    return result;
  }
  const int64_t side = header.is_first ? (header.is_mono ? 17 : 32) : (header.is_mono ? 9 : 17);
  int64_t at = kHeader + side;
  if (text(at, 4) != "Xing" && text(at, 4) != "Info") return result;
  at += 4;
  if (at + 4 > size) return result;
  result.exists = true;
  const uint32_t flags = number_at(frame, at);
  at += 4;
  if (flags & 1 && at + 4 <= size) result.num_frames = number_at(frame, at);
  at += (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0);
  const std::string_view encoder = text(at, 4);
  if ((encoder == "LAME" || encoder == "Lavf" || encoder == "Lavc") && at + 25 <= size) {
    result.has_delay = true;
    result.delay = number_at(frame, at + 21) >> 20;
    result.padding = number_at(frame, at + 21) >> 8 & 0xfff;
  }
  return result;
}

}  // namespace

std::optional<MpegAudio> find_mpeg_audio(const char* bytes, int64_t size) {
  int64_t at = 0;
  std::optional<FrameHeader> first;
  for (; at < size - kHeader + 1; ++at) {
    first = read_header(bytes, size, at);
    if (first && is_followed(bytes, size, at, *first)) break;
    first.reset();
  }
  if (!first) return std::nullopt;
  MpegAudio audio;
  audio.begin = at;
  audio.end = size;
  audio.frame_samples = first->samples();
  if (first->size == 0) return audio;
  const Description description =
      read_description(bytes + at, std::min(first->size, size - at), *first);
  if (description.exists) audio.begin += first->size;
  audio.end = walk(bytes, size, audio.begin, first->fixed_bits,
                   [&](const FrameHeader& header, int64_t place) {
                     audio.is_cut = header.size > size - place;
                     audio.cut_size = header.size;
                     audio.num_frames += audio.is_cut ? 0 : 1;
                   });
  if (description.has_delay) {
    audio.delay = description.delay + kDecoderDelay;
    // Behind other frames than those that are described, there is no padding.
    if (description.num_frames == audio.num_frames)
      audio.padding = std::max<int64_t>(0, description.padding - kDecoderDelay);
  }
  return audio;
}

}  // namespace dali_core
