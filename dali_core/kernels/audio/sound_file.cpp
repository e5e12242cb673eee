#include "dali_core/kernels/audio/sound_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace dali_core {
namespace {

constexpr int kRead = 0x10;
constexpr int kSubtypes = 0xffff, kFloatSubtype = 6, kDoubleSubtype = 7;

// Floats for which memory is reserved because a header says so. Beyond, what the file holds is
// counted first.
constexpr int64_t kTrusted = int64_t{1} << 24;
constexpr int64_t kTrustedForByte = 4;
constexpr int64_t kCounted = 4096;  // frames that are counted at once
constexpr int kMostChannels = 1024;

// Containers in common use. The other formats of libsndfile are seldom met and seldom tested, and
// bytes choose their decoder.
bool is_known(const char* bytes, int64_t size) {
  const std::string_view start(bytes, static_cast<size_t>(std::min<int64_t>(size, 12)));
  for (const char* name : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM", ".snd", "riff", "caff"})
    if (start.substr(0, 4) == name) return true;
  if (start.substr(0, 3) == "ID3") return true;
  return start.size() > 1 && static_cast<unsigned char>(start[0]) == 0xff &&
         (static_cast<unsigned char>(start[1]) & 0xe0) == 0xe0;
}

}  // namespace

SoundInput SoundFile::input() {
  return {[](void* context) { return static_cast<Source*>(context)->size; },
          [](int64_t offset, int origin, void* context) {
            Source& source = *static_cast<Source*>(context);
            const int64_t base = origin == SEEK_SET   ? 0
                                 : origin == SEEK_CUR ? source.place
                                                      : source.size;
            int64_t place;
            if (!__builtin_add_overflow(base, offset, &place) && place >= 0 && place <= source.size)
              source.place = place;
            else
              return int64_t{-1};
            return place;
          },
          [](void* target, int64_t count, void* context) {
            Source& source = *static_cast<Source*>(context);
            const int64_t length =
                std::max<int64_t>(0, std::min(count, source.size - source.place));
            if (length > 0)
              std::memcpy(target, source.bytes + source.place, static_cast<size_t>(length));
            source.place += length;
            return length;
          },
          [](const void*, int64_t, void*) { return int64_t{0}; },
          [](void* context) { return static_cast<Source*>(context)->place; }};
}

SoundFile::SoundFile(const SoundLibrary& library, const void* bytes, int64_t size)
    : library_(library), source_{static_cast<const char*>(bytes), size, 0} {
  if (!is_known(source_.bytes, size))
    throw std::invalid_argument(
        "the bytes must be audio of a known format, such as WAV, FLAC, Ogg or MP3 (got " +
        std::to_string(size) + " bytes of something else). Check the file.");
  SoundInput callbacks = input();
  file_ = library_.open_virtual(&callbacks, kRead, &info_, &source_);
  if (file_ == nullptr) fail("the audio must have a sound header");
  try {
    check_frames();
  } catch (...) {
    library_.close(file_);
    throw;
  }
}

SoundFile::~SoundFile() { library_.close(file_); }

bool SoundFile::has_floats() const {
  const int subtype = info_.format & kSubtypes;
  return subtype == kFloatSubtype || subtype == kDoubleSubtype;
}

void SoundFile::check_frames() {
  if (info_.channels < 1 || info_.channels > kMostChannels || info_.sample_rate < 1 ||
      info_.frames < 0)
    throw std::invalid_argument("the audio must have channels, a rate and a length (got " +
                                std::to_string(info_.channels) + ", " +
                                std::to_string(info_.sample_rate) + " Hz and " +
                                std::to_string(info_.frames) + " frames). Check the file.");
  const int64_t trusted = std::max(kTrusted, checked_product(source_.size, kTrustedForByte));
  if (info_.frames <= trusted / info_.channels) return;
  std::vector<float> block(static_cast<size_t>(kCounted * info_.channels));
  int64_t left = info_.frames;
  while (left > 0) {
    const int64_t wanted = std::min<int64_t>(left, kCounted);
    const int64_t count = library_.readf_float(file_, block.data(), wanted);
    // More would be as wrong as none, and could make a loop without an end.
    if (count <= 0 || count > wanted) check_read(info_.frames - left, info_.frames);
    left -= count;
  }
  seek(0);
}

void SoundFile::seek(int64_t frame) {
  if (library_.seek(file_, frame, SEEK_SET) != frame) fail("the audio must be seekable");
}

void SoundFile::read(float* target, int64_t frames) {
  check_read(library_.readf_float(file_, target, frames), frames);
}

void SoundFile::read(int16_t* target, int64_t frames) {
  check_read(library_.readf_short(file_, target, frames), frames);
}

void SoundFile::read(int32_t* target, int64_t frames) {
  check_read(library_.readf_int(file_, target, frames), frames);
}

void SoundFile::check_read(int64_t count, int64_t frames) const {
  if (count != frames)
    throw std::invalid_argument("the audio must have as many frames as its header says (got " +
                                std::to_string(count) + " of " + std::to_string(frames) +
                                "). It is damaged or cut short.");
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
