// A sound in memory, in any format that libsndfile reads and that is in common use.
#pragma once

#include <cstdint>
#include <string>

#include "dali_core/kernels/audio/sound_library.hpp"
#include "dali_core/tensor.hpp"

namespace dali_core {

class SoundFile {
 public:
  // `bytes` stay where they are while the file is open. Throws if they are no sound.
  SoundFile(const SoundLibrary& library, const void* bytes, int64_t size);
  ~SoundFile();
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  int64_t frames() const { return info_.frames; }
  int channels() const { return info_.channels; }
  int sample_rate() const { return info_.sample_rate; }

  // Whether samples are floating point in the file, so that its integers would not be scaled.
  bool has_floats() const;

  // Continues at a frame.
  void seek(int64_t frame);

  // Reads interleaved samples of all channels: exactly as many frames, or throws.
  void read(float* target, int64_t frames);
  void read(int16_t* target, int64_t frames);
  void read(int32_t* target, int64_t frames);

 private:
  [[noreturn]] void fail(const std::string& rule) const;
  void check_read(int64_t count, int64_t frames) const;
  void check_frames();

  // What libsndfile reads from.
  struct Source {
    const char* bytes;
    int64_t size, place;
  };
  static SoundInput input();

  const SoundLibrary& library_;
  Source source_;
  SoundInfo info_;
  void* file_ = nullptr;
};

}  // namespace dali_core
