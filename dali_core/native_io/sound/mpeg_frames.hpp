// The frames of MPEG audio (MP1, MP2, MP3): ISO/IEC 11172-3, section 2.4.1.3. Their number is what
// a file holds, whatever its header says.
#pragma once

#include <cstdint>
#include <optional>

namespace dali_core {

struct MpegAudio {
  int64_t begin = 0, end = 0;  // bytes from the first frame to the end of the last one
  int64_t num_frames = 0;
  int64_t frame_samples = 0;  // of a channel
  // Samples of the decoded frames that the encoder has put around the sound.
  int64_t delay = 0, padding = 0;
  bool is_cut = false;  // behind `end`, a frame of `cut_size` begins, longer than what is left
  int64_t cut_size = 0;
};

// Walks over all frames; nothing if there is none. Frames of a free format, whose length only their
// decoder finds, are not counted: `num_frames` is 0 then.
std::optional<MpegAudio> find_mpeg_audio(const char* bytes, int64_t size);

}  // namespace dali_core
