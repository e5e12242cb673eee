// Finds the sound in a file without trusting the lengths that its headers claim.
//
// libsndfile gives no more frames than the header declares. So it reads headers whose number of
// frames is removed, or is what the file has room for, and the sound ends where decoding ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dali_core/native_io/sound/mpeg_frames.hpp"
#include "dali_core/native_io/sound/sound_bytes.hpp"

namespace dali_core {

struct SoundLayout {
  // Complete files of one kind, whose sounds follow one another: the links of a chained Ogg file,
  // or one.
  std::vector<SoundBytes> links;
  // Frames that must be there: counted by an encoder of FLAC, or in the headers of MPEG's. Or -1.
  int64_t counted = -1;
  // Samples at the end where seeks miss: libsndfile finds the beginning of a page of Ogg Vorbis by
  // counting back from its end, from which the last one is cut.
  int64_t inexact_at_end = 0;
  // Whether what the decoder cannot read is part of the sound: nothing is counted that tells.
  bool needs_all = false;
  // Why the file cannot be whole; empty if it may be.
  std::string damage;
  std::optional<MpegAudio> mpeg;
};

// The sentence for damage at the end of a file.
std::string missing_bytes(const char* what, int64_t has, int64_t wanted);

// Throws if the bytes are no sound of a known format.
SoundLayout find_sound(const char* bytes, int64_t size);

}  // namespace dali_core
