#include "dali_core/kernels/audio/decode_sound.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/audio/normalized_samples.hpp"

namespace dali_core {
namespace {

constexpr size_t kSignalSlot = 0, kBlockSlot = 1;
constexpr int64_t kBlock = 4096;  // frames

// Calls `function` with an object of one of the types that sounds are decoded to.
template <typename Function>
void visit_decoded_type(DataType type, Function&& function) {
  if (type == DataType::kInt16)
    function(int16_t{});
  else if (type == DataType::kInt32)
    function(int32_t{});
  else
    function(float{});
}

// Reads a block of floats after the other, and gives each to `use` with its first frame.
template <typename Use>
void read_blocks(SampleContext& sample, SoundFile& file, int64_t frames, Use&& use) {
  const auto channels = static_cast<size_t>(file.channels());
  float* const block = sample.scratch<float>(kBlockSlot, kBlock * channels);
  for (int64_t first = 0; first < frames; first += kBlock) {
    const int64_t count = std::min(kBlock, frames - first);
    file.read(block, count);
    use(block, first, count);
  }
}

void mix(const float* block, int64_t count, int channels, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int channel = 0; channel < channels; ++channel) sum += block[i * channels + channel];
    out[i] = sum / static_cast<float>(channels);
  }
}

int64_t frame_at(double seconds, const SoundFile& file) {
  const double frame = std::round(seconds * file.sample_rate());
  return frame < static_cast<double>(file.frames()) ? static_cast<int64_t>(std::max(frame, 0.0))
                                                    : file.frames();
}

// Reads signals one after the other, with the margin of the filter around each.
void read_signals(SampleContext& sample, SoundFile& file, int64_t frames, int64_t num_signals,
                  int64_t margin, float* signals) {
  const int64_t extent = frames + 2 * margin;
  std::fill_n(signals, num_signals * extent, 0.0f);
  read_blocks(sample, file, frames, [&](const float* block, int64_t first, int64_t count) {
    float* const target = signals + margin + first;
    if (num_signals == 1 && file.channels() > 1) return mix(block, count, file.channels(), target);
    for (int64_t channel = 0; channel < num_signals; ++channel)
      for (int64_t i = 0; i < count; ++i)
        target[channel * extent + i] = block[i * num_signals + channel];
  });
}

}  // namespace

SoundRequest::SoundRequest(const OperatorConfig& config)
    : libraries(config.get_or<std::vector<std::string>>("sound_libraries", {})),
      downmix(config.get<bool>("downmix")),
      type(config.get<DataType>("dtype")),
      filter(config.get<float>("quality")) {}

DecodedRates decode_sound(SampleContext& sample, const SoundRequest& request, const void* bytes,
                          int64_t size, float rate, SoundPart part) {
  SoundFile file(SoundLibrary::get(request.libraries), bytes, size);
  const int64_t start = frame_at(part.offset, file);
  if (part.offset > 0 && start == file.frames())
    throw std::invalid_argument("the offset must be within the audio (got " +
                                std::to_string(part.offset) + " s of " +
                                std::to_string(file.frames()) + " frames at " +
                                std::to_string(file.sample_rate()) + " Hz). Check the manifest.");
  const int64_t end =
      part.duration < 0 ? file.frames() : frame_at(part.offset + part.duration, file);
  const int64_t frames = std::max<int64_t>(end - start, 0);
  if (start > 0) file.seek(start);
  const auto file_rate = static_cast<float>(file.sample_rate());
  if (!(rate > 0)) rate = file_rate;
  const bool resamples = rate != file_rate;
  const RateRatio ratio{file_rate, rate};
  const int64_t length = resamples ? ratio.output_length(frames) : frames;
  const int64_t num_signals = request.downmix ? 1 : file.channels();
  const bool mixes = request.downmix && file.channels() > 1;
  Tensor& output =
      sample.output(0, request.type, request.downmix ? Shape{length} : Shape{length, num_signals});
  if (output.num_elements() == 0) return {file_rate, rate};

  visit_decoded_type(request.type, [&](auto zero) {
    using T = decltype(zero);
    T* const out = output.as<T>();
    if (!resamples && !mixes && (!file.has_floats() || std::is_same_v<T, float>)) {
      file.read(out, frames);
    } else if (!resamples) {
      read_blocks(sample, file, frames, [&](float* block, int64_t first, int64_t count) {
        if (mixes) mix(block, count, file.channels(), block);
        for (int64_t i = 0; i < count * num_signals; ++i)
          out[first * num_signals + i] = from_normalized<T>(block[i]);
      });
    } else {
      const int64_t margin = request.filter.margin();
      const int64_t extent = frames + 2 * margin;
      const int64_t result_floats = std::is_same_v<T, float> ? 0 : length;
      float* const signals = sample.scratch<float>(
          kSignalSlot,
          static_cast<size_t>(checked_sum(checked_product(num_signals, extent), result_floats)));
      read_signals(sample, file, frames, num_signals, margin, signals);
      for (int64_t channel = 0; channel < num_signals; ++channel) {
        const float* const signal = signals + channel * extent + margin;
        if constexpr (std::is_same_v<T, float>) {
          resample(request.filter, ratio, signal, length, out + channel, num_signals);
        } else {
          float* const result = signals + num_signals * extent;
          resample(request.filter, ratio, signal, length, result, 1);
          for (int64_t i = 0; i < length; ++i)
            out[i * num_signals + channel] = from_normalized<T>(result[i]);
        }
      }
    }
  });
  return {file_rate, rate};
}

}  // namespace dali_core
