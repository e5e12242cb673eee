#include "dali_core/operators/video/native_worker/stream_facts.hpp"

extern "C" {
#include <libavutil/mathematics.h>
}

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace dali_core {
namespace {

constexpr int64_t kMaxPixels = 1 << 28;
constexpr size_t kHead = 4096;

AVRational reduced(AVRational value) {
  const int64_t divisor = std::max<int64_t>(
      1, ::av_gcd(std::llabs(int64_t{value.num}), std::llabs(int64_t{value.den})));
  const int64_t sign = value.den < 0 ? -1 : 1;
  return {static_cast<int>(sign * value.num / divisor),
          static_cast<int>(sign * value.den / divisor)};
}

const int32_t* display_matrix(const AVStream* stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)
  const AVPacketSideData* data =
      ::av_packet_side_data_get(stream->codecpar->coded_side_data,
                                stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  if (data == nullptr || data->size < 9 * sizeof(int32_t)) return nullptr;
  return reinterpret_cast<const int32_t*>(data->data);
#else
  size_t size = 0;
  const uint8_t* data = ::av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return size < 9 * sizeof(int32_t) ? nullptr : reinterpret_cast<const int32_t*>(data);
#endif
}

// What a display matrix means, by the numbers of Exif, as FFmpeg's players take it. A matrix that
// turns by another angle than quarters means nothing here.
int64_t orientation_of(const AVStream* stream) {
  const int32_t* matrix = display_matrix(stream);
  if (matrix == nullptr) return 1;
  const double xx = matrix[0], xy = matrix[1], yx = matrix[3], yy = matrix[4];
  const double across = std::hypot(xx, yx), down = std::hypot(xy, yy);
  if (across == 0 || down == 0) return 1;
  constexpr double kDegree = 3.141592653589793 / 180;
  const auto degrees =
      static_cast<int>(std::floor(std::atan2(xy / down, xx / across) / kDegree + 0.5));
  switch ((degrees + 360) % 360) {
    case 0:
      return yy < 0 ? 4 : 1;
    case 90:
      return yx > 0 ? 5 : 6;
    case 180:
      return yy < 0 ? 3 : 2;
    case 270:
      return yx < 0 ? 7 : 8;
    default:
      return 1;
  }
}

// Whether frames that no other frame refers to can be left out without a change of others.
bool may_skip(const AVCodecParameters& parameters) {
  switch (parameters.codec_id) {
    case AV_CODEC_ID_HEVC: {
      // With temporal layers, frames of a higher layer refer to what this one calls unreferenced.
      const uint8_t* data = parameters.extradata;
      return parameters.extradata_size > 22 && data[0] == 1 && (data[21] >> 3 & 7) == 1;
    }
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_VP8:
      return true;
    default:
      return false;
  }
}

uint64_t size_of_riff(const std::string& head) {
  if (head.size() < 8 || head.compare(0, 4, "RIFF") != 0) return 0;
  uint32_t size;
  std::memcpy(&size, head.data() + 4, sizeof size);
  const uint64_t whole = uint64_t{size} + 8;
  return whole < uint64_t{1} << 32 ? whole : 0;
}

// The place where the segment ends, 0 if it does not say (RFC 8794, 8).
uint64_t size_of_matroska(const std::string& head) {
  uint64_t place = 0;
  for (const char* element : {"\x1a\x45\xdf\xa3", "\x18\x53\x80\x67"}) {
    const uint64_t start = place + 4;
    if (start + 8 > head.size() || head.compare(place, 4, element, 4) != 0) return 0;
    const auto* bytes = reinterpret_cast<const uint8_t*>(head.data()) + start;
    int length = 1;
    while (length <= 8 && !(bytes[0] & 0x80 >> (length - 1))) ++length;
    if (length > 8) return 0;
    uint64_t size = 0;
    for (int i = 0; i < length; ++i) size = size << 8 | bytes[i];
    const uint64_t mask = (uint64_t{1} << 7 * length) - 1;
    size &= mask;
    if (size == mask) return 0;
    place = start + static_cast<uint64_t>(length) + size;
  }
  return place;
}

// The number whose digits begin at `text`, which then is behind them; -1 if there are none, or not
// as many as there must be.
double digits_of(const char*& text, size_t wanted = 0) {
  const size_t count = ::strspn(text, "0123456789");
  if (count == 0 || (wanted > 0 && count != wanted)) return -1;
  const double value = std::strtod(std::string(text, count).c_str(), nullptr);
  text += count;
  return value;
}

// Of hours, minutes and seconds: 00:01:02.345000000; 0 for anything else.
double seconds_of(const char* text) {
  const double hours = digits_of(text);
  if (hours < 0 || *text++ != ':') return 0;
  const double minutes = digits_of(text, 2);
  if (minutes < 0 || *text++ != ':') return 0;
  const char* const start = text;
  if (digits_of(text, 2) < 0) return 0;
  if (*text == '.' && digits_of(++text) < 0) return 0;
  if (*text != '\0') return 0;
  return 3600.0 * hours + 60.0 * minutes + std::strtod(start, nullptr);
}

}  // namespace

void describe_stream(const Container& container, PackedIndex& index) {
  const AVStream* stream = container.stream();
  const AVCodecParameters& parameters = *stream->codecpar;
  if (::avcodec_find_decoder(parameters.codec_id) == nullptr)
    throw VideoFileError("its codec is not known to FFmpeg");
  index.codec = ::avcodec_get_name(parameters.codec_id);
  index.coded_width = parameters.width;
  index.coded_height = parameters.height;
  if (std::min(parameters.width, parameters.height) <= 0)
    throw VideoFileError("it does not say how large its pictures are");
  if (int64_t{parameters.width} * parameters.height > kMaxPixels)
    throw VideoFileError("its pictures have " + std::to_string(parameters.width) + " x " +
                         std::to_string(parameters.height) + " pixels");
  const AVRational base = reduced(stream->time_base);
  if (base.num <= 0 || base.den <= 0) throw VideoFileError("it has no unit of time");
  index.time_base_num = base.num;
  index.time_base_den = base.den;
  index.orientation = orientation_of(stream);
  if (may_skip(parameters)) index.flags |= PackedIndex::kMaySkip;
}

void check_size(const Container& container) {
  const bool is_avi = container.format() == "avi";
  if (!is_avi && !container.is_matroska()) return;
  std::string head(kHead, '\0');
  const ssize_t count = ::pread(container.descriptor(), head.data(), head.size(), 0);
  head.resize(count > 0 ? static_cast<size_t>(count) : 0);
  struct stat status{};
  ::fstat(container.descriptor(), &status);
  const uint64_t expected = is_avi ? size_of_riff(head) : size_of_matroska(head);
  if (static_cast<uint64_t>(status.st_size) < expected)
    throw VideoFileError("it is cut off after " + std::to_string(status.st_size) + " of " +
                         std::to_string(expected) + " bytes");
}

double expected_seconds(const Container& container) {
  if (!container.is_matroska()) return 0;
  const AVDictionaryEntry* entry =
      ::av_dict_get(container.stream()->metadata, "DURATION", nullptr, AV_DICT_MATCH_CASE);
  return entry != nullptr ? seconds_of(entry->value) : 0;
}

bool numbers_packets(const Container& container) {
  const AVCodecParameters& parameters = *container.stream()->codecpar;
  const bool is_misled =
      parameters.codec_id == AV_CODEC_ID_H264 || parameters.codec_id == AV_CODEC_ID_HEVC;
  return container.format() == "avi" && is_misled && parameters.video_delay != 0;
}

AVRational frame_rate(const Container& container) {
  AVStream* stream = container.stream();
  for (const AVRational rate :
       {::av_guess_frame_rate(nullptr, stream, nullptr), stream->avg_frame_rate})
    if (rate.num != 0 && rate.den != 0) return reduced(rate);
  return {25, 1};
}

}  // namespace dali_core
