// From the bytes of a sound file to samples as they are asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dali_core/kernels/audio/resampling.hpp"
#include "dali_core/native_io/sound/sound_file.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Arguments that the decoder and readers of audio share.
struct SoundRequest {
  explicit SoundRequest(const OperatorConfig& config);

  std::vector<std::string> libraries;
  bool downmix;  // to one channel, and one dimension
  DataType type;
  SincFilter filter;
};

// The part of a sound that is read, in seconds.
struct SoundPart {
  double offset = 0;
  double duration = -1;  // negative: to the end
};

struct DecodedRates {
  float file, output;  // in Hz
};

// Writes output 0 with samples of `rate` Hz, or of the file's if that is not positive.
DecodedRates decode_sound(SampleContext& sample, const SoundRequest& request, const void* bytes,
                          int64_t size, float rate, SoundPart part = {});

}  // namespace dali_core
