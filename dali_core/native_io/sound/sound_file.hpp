// A sound in memory, in any format that libsndfile reads and that is in common use. Its length is
// what decoding gives: headers may claim any.
#pragma once

#include <cstdint>
#include <string>

#include "dali_core/native_io/sound/sound_layout.hpp"
#include "dali_core/native_io/sound/sound_library.hpp"

namespace dali_core {

class SoundFile {
 public:
  // `bytes` stay where they are while the file is open. Throws if they are no sound.
  SoundFile(const SoundLibrary& library, const void* bytes, int64_t size);
  ~SoundFile();
  SoundFile(const SoundFile&) = delete;
  SoundFile& operator=(const SoundFile&) = delete;

  int channels() const { return info_.channels; }
  int sample_rate() const { return info_.sample_rate; }

  // Frames to reserve memory for: as many as the header claims, within what the file's size makes
  // credible. There may be more or fewer.
  int64_t likely_frames() const;

  // Whether samples are floating point in the file, so that its integers would not be scaled.
  bool has_floats() const;

  // Begins at a frame, once, before anything is read.
  void start(int64_t frame);

  // Reads interleaved samples of all channels, and returns the number of frames. That is less than
  // asked for only at the end of the sound. Throws if it ends there because it is damaged.
  template <typename T>
  int64_t read(T* target, int64_t frames);

 private:
  void open(const SoundBytes& link);
  void close();
  [[noreturn]] void fail(const std::string& rule) const;
  void check_info(const SoundInfo& info) const;
  void check_end() const;
  void discard(int64_t frames);
  template <typename T>
  int64_t read_decoded(T* target, int64_t frames);
  int64_t call(float* target, int64_t frames);
  int64_t call(int16_t* target, int64_t frames);
  int64_t call(int32_t* target, int64_t frames);

  const SoundLibrary& library_;
  SoundLayout layout_;
  size_t link_ = 0;    // which is open
  SoundBytes source_;  // what libsndfile reads from
  SoundInfo info_;
  void* file_ = nullptr;
  int64_t place_ = 0;  // the next frame
  int64_t first_frames_ = 0;
  bool has_failed_ = false;
  bool has_ended_ = false;
};

}  // namespace dali_core
