#include "dali_core/native_io/sound/sound_file.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <vector>

#include "dali_core/sizes.hpp"

namespace dali_core {
namespace {

constexpr int kRead = 0x10;
constexpr int kSubtypes = 0xffff, kFloatSubtype = 6, kDoubleSubtype = 7;

// Floats for which memory is reserved because a header says so.
constexpr int64_t kTrusted = int64_t{1} << 24;
constexpr int64_t kTrustedForByte = 4;
constexpr int64_t kDiscarded = 4096;  // frames at once
constexpr int kMostChannels = 1024;
constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

// Frames of MPEG audio that are decoded before the wanted one: it may need bits of those before,
// 255 bytes of frames that are no longer than 11.
constexpr int64_t kFramesBefore = 32;
// More than a packet of Vorbis has.
constexpr int64_t kMarginOfSeek = 8192;

}  // namespace

SoundFile::SoundFile(const SoundLibrary& library, const void* bytes, int64_t size)
    : library_(library), layout_(find_sound(static_cast<const char*>(bytes), size)) {
  try {
    open(layout_.links[0]);
  } catch (...) {
    close();
    throw;
  }
  first_frames_ = info_.frames;
}

SoundFile::~SoundFile() { close(); }

void SoundFile::open(const SoundBytes& link) {
  close();
  source_ = link;
  SoundInput callbacks = SoundBytes::input();
  SoundInfo info;
  file_ = library_.open_virtual(&callbacks, kRead, &info, &source_);
  if (file_ == nullptr) fail("the audio must have a sound header");
  check_info(info);
  info_ = info;
}

void SoundFile::close() {
  if (file_ != nullptr) library_.close(file_);
  file_ = nullptr;
}

void SoundFile::check_info(const SoundInfo& info) const {
  if (info.channels < 1 || info.channels > kMostChannels || info.sample_rate < 1 || info.frames < 0)
    throw std::invalid_argument("the audio must have channels, a rate and a length (got " +
                                std::to_string(info.channels) + ", " +
                                std::to_string(info.sample_rate) + " Hz and " +
                                std::to_string(info.frames) + " frames). Check the file.");
  if (info_.channels != 0 &&
      (info.channels != info_.channels || info.sample_rate != info_.sample_rate))
    throw std::invalid_argument(
        "the parts of a chained file must have the same channels and rate (got " +
        std::to_string(info_.channels) + " at " + std::to_string(info_.sample_rate) + " Hz, then " +
        std::to_string(info.channels) + " at " + std::to_string(info.sample_rate) +
        " Hz). The file is sound, but not supported; split it.");
}

int64_t SoundFile::likely_frames() const {
  int64_t size = 0;
  for (const SoundBytes& link : layout_.links) size += link.size;
  const int64_t credible = std::max(kTrusted, checked_product(size, kTrustedForByte));
  const int64_t claimed = layout_.counted >= 0 ? layout_.counted : first_frames_;
  // Nothing is known before the end.
  if (claimed == kEndless) return 0;
  return std::min(claimed, credible / info_.channels);
}

bool SoundFile::has_floats() const {
  const int subtype = info_.format & kSubtypes;
  return subtype == kFloatSubtype || subtype == kDoubleSubtype;
}

void SoundFile::start(int64_t frame) {
  const MpegAudio mpeg = layout_.mpeg.value_or(MpegAudio{});
  // A seek goes to where all that is needed by the wanted frame is decoded, too.
  int64_t target = frame - kFramesBefore * mpeg.frame_samples;
  if (layout_.inexact_at_end > 0)
    target = std::min(target, info_.frames - layout_.inexact_at_end - kMarginOfSeek);
  place_ = -mpeg.delay;
  if (target > 0 && layout_.links.size() == 1) {
    int64_t decoded;
    if (!__builtin_add_overflow(target, mpeg.delay, &decoded) &&
        library_.seek(file_, decoded, SEEK_SET) == decoded)
      place_ = target;
    else
      open(layout_.links[0]);
  }
  discard(frame - place_);
}

void SoundFile::discard(int64_t frames) {
  if (frames <= 0) return;
  std::vector<float> block(static_cast<size_t>(kDiscarded * info_.channels));
  while (frames > 0) {
    const int64_t count = read_decoded(block.data(), std::min(frames, kDiscarded));
    if (count == 0) return;
    frames -= count;
  }
}

template <typename T>
int64_t SoundFile::read(T* target, int64_t frames) {
  // What an encoder has added behind the sound is left out.
  if (layout_.mpeg && layout_.mpeg->padding > 0)
    frames = std::min(frames, std::max<int64_t>(0, layout_.counted - place_));
  return read_decoded(target, frames);
}

template <typename T>
int64_t SoundFile::read_decoded(T* target, int64_t frames) {
  int64_t total = 0;
  while (total < frames && !has_ended_) {
    const int64_t wanted = frames - total;
    const int64_t count = call(target + total * info_.channels, wanted);
    // More would be as wrong as a negative number.
    if (count < 0 || count > wanted) fail("the audio must be decodable");
    has_failed_ = has_failed_ || library_.error(file_) != 0;
    total += count;
    place_ += count;
    if (count > 0) continue;
    if (link_ + 1 < layout_.links.size()) {
      open(layout_.links[++link_]);
      continue;
    }
    has_ended_ = true;
    check_end();
  }
  return total;
}

template int64_t SoundFile::read(float*, int64_t);
template int64_t SoundFile::read(int16_t*, int64_t);
template int64_t SoundFile::read(int32_t*, int64_t);

int64_t SoundFile::call(float* target, int64_t frames) {
  return library_.readf_float(file_, target, frames);
}

int64_t SoundFile::call(int16_t* target, int64_t frames) {
  return library_.readf_short(file_, target, frames);
}

int64_t SoundFile::call(int32_t* target, int64_t frames) {
  return library_.readf_int(file_, target, frames);
}

void SoundFile::check_end() const {
  if (layout_.counted > place_)
    throw std::invalid_argument("the audio must have as many frames as its header says (got " +
                                std::to_string(place_) + " of " + std::to_string(layout_.counted) +
                                "). It is damaged or cut short.");
  if (layout_.needs_all && has_failed_)
    throw std::invalid_argument("the audio must be decodable to its end (got " +
                                std::to_string(place_) +
                                " frames). The file is damaged or cut short.");
  if (!layout_.damage.empty()) throw std::invalid_argument(layout_.damage);
}

void SoundFile::fail(const std::string& rule) const {
  const char* const text = library_.strerror(file_);
  std::string reason = text != nullptr ? text : "no reason given";
  for (char& letter : reason)
    if (letter < ' ' || letter > '~') letter = ' ';
  while (!reason.empty() && (reason.back() == ' ' || reason.back() == '.')) reason.pop_back();
  throw std::invalid_argument(rule + " (got: " + reason + "). Check the file.");
}

}  // namespace dali_core
