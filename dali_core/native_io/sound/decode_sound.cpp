#include "dali_core/native_io/sound/decode_sound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/host_memory.hpp"
#include "dali_core/kernels/audio/normalized_samples.hpp"

namespace dali_core {
namespace {

// Slot 2 is the readers'.
constexpr size_t kSignalSlot = 0, kBlockSlot = 1, kFramesSlot = 3;
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

void mix(const float* block, int64_t count, int channels, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int channel = 0; channel < channels; ++channel) sum += block[i * channels + channel];
    out[i] = sum / static_cast<float>(channels);
  }
}

int64_t frame_at(double seconds, const SoundFile& file) {
  constexpr int64_t kMost = int64_t{1} << 62;
  const double frame = std::round(seconds * file.sample_rate());
  return frame < static_cast<double>(kMost) ? static_cast<int64_t>(std::max(frame, 0.0)) : kMost;
}

// Interleaved samples of frames whose number is known when the last one was read: first in memory
// for the number that is likely, then in blocks that grow.
template <typename T>
class FrameList {
 public:
  FrameList(T* likely, int64_t num_likely, int64_t width) : width_(width) {
    blocks_.push_back({likely, num_likely, nullptr});
  }

  int64_t size() const { return size_; }

  // Calls `read` with memory and a number of frames, which returns how many there were, until there
  // are no more, or `most`.
  template <typename Read>
  void read_all(int64_t most, Read&& read) {
    int64_t used = 0;
    while (size_ < most) {
      if (used == blocks_.back().size) {
        add_block();
        used = 0;
      }
      const Block& block = blocks_.back();
      const int64_t count = std::min(block.size - used, most - size_);
      const int64_t found = read(block.data + used * width_, count);
      if (found == 0) break;
      used += found;
      size_ += found;
    }
  }

  // Calls `use` with memory, its first frame and the number of its frames.
  template <typename Use>
  void visit(Use&& use) const {
    int64_t first = 0;
    for (const Block& block : blocks_) {
      const int64_t count = std::min(block.size, size_ - first);
      use(block.data, first, count);
      first += count;
    }
  }

 private:
  struct Block {
    T* data;
    int64_t size;  // in frames
    std::unique_ptr<T[]> owner;
  };

  void add_block() {
    const int64_t size = std::clamp(size_ / 2, kBlock, kMostOfBlock);
    require_host_memory(
        static_cast<size_t>(checked_product(checked_product(size_ + size, width_), sizeof(T))));
    std::unique_ptr<T[]> owner(new T[static_cast<size_t>(size * width_)]);
    T* const data = owner.get();
    blocks_.push_back({data, size, std::move(owner)});
  }

  static constexpr int64_t kMostOfBlock = int64_t{1} << 20;
  std::vector<Block> blocks_;
  int64_t width_, size_ = 0;
};

// Splits channels into signals one after the other, with the margin of the filter around each.
void split_signals(const FrameList<float>& frames, int64_t num_signals, int64_t margin,
                   float* signals) {
  const int64_t extent = frames.size() + 2 * margin;
  std::fill_n(signals, num_signals * extent, 0.0f);
  frames.visit([&](const float* block, int64_t first, int64_t count) {
    float* const target = signals + margin + first;
    for (int64_t channel = 0; channel < num_signals; ++channel)
      for (int64_t i = 0; i < count; ++i)
        target[channel * extent + i] = block[i * num_signals + channel];
  });
}

// Reads frames as they are decoded, or as the mean of their channels.
template <typename T>
int64_t read_frames(SampleContext& sample, SoundFile& file, bool mixes, T* target, int64_t frames) {
  const int channels = file.channels();
  if (!mixes && (!file.has_floats() || std::is_same_v<T, float>)) return file.read(target, frames);
  float* const block = sample.scratch<float>(kBlockSlot, static_cast<size_t>(kBlock * channels));
  const int64_t count = file.read(block, std::min(frames, kBlock));
  if (mixes) mix(block, count, channels, block);
  for (int64_t i = 0; i < count * (mixes ? 1 : channels); ++i)
    target[i] = from_normalized<T>(block[i]);
  return count;
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
  const int64_t end = part.duration < 0 ? std::numeric_limits<int64_t>::max()
                                        : frame_at(part.offset + part.duration, file);
  const int64_t most = std::max<int64_t>(end - start, 0);
  const int64_t likely = std::min(most, std::max<int64_t>(0, file.likely_frames() - start));
  const auto file_rate = static_cast<float>(file.sample_rate());
  if (!(rate > 0)) rate = file_rate;
  const bool resamples = rate != file_rate;
  const bool mixes = request.downmix && file.channels() > 1;
  const int64_t num_signals = request.downmix ? 1 : file.channels();
  const auto output = [&](int64_t length) -> Tensor& {
    return sample.output(0, request.type,
                         request.downmix ? Shape{length} : Shape{length, num_signals});
  };

  const auto read_all = [&](auto& frames) {
    file.start(start);
    frames.read_all(most, [&](auto* target, int64_t count) {
      return read_frames(sample, file, mixes, target, count);
    });
    if (part.offset <= 0 || frames.size() > 0) return;
    float* const next = sample.scratch<float>(kBlockSlot, static_cast<size_t>(file.channels()));
    if (most == 0 && file.read(next, 1) == 1) return;
    throw std::invalid_argument("the offset must be within the audio (got " +
                                std::to_string(part.offset) + " s of a shorter one at " +
                                std::to_string(file.sample_rate()) + " Hz). Check the manifest.");
  };

  visit_decoded_type(request.type, [&](auto zero) {
    using T = decltype(zero);
    if (!resamples) {
      Tensor reserved = output(likely);  // a copy: another output may take its place
      FrameList<T> frames(reserved.as<T>(), likely, num_signals);
      read_all(frames);
      if (frames.size() == likely) return;
      T* const out = output(frames.size()).template as<T>();
      frames.visit([&](const T* block, int64_t first, int64_t count) {
        std::copy_n(block, count * num_signals, out + first * num_signals);
      });
      return;
    }
    FrameList<float> frames(sample.scratch<float>(kFramesSlot, static_cast<size_t>(checked_product(
                                                                   likely, num_signals))),
                            likely, num_signals);
    read_all(frames);
    const RateRatio ratio{file_rate, rate};
    const int64_t length = ratio.output_length(frames.size());
    Tensor& result = output(length);
    if (result.num_elements() == 0) return;
    T* const out = result.as<T>();
    const int64_t margin = request.filter.margin();
    const int64_t extent = frames.size() + 2 * margin;
    const int64_t result_floats = std::is_same_v<T, float> ? 0 : length;
    float* const signals = sample.scratch<float>(
        kSignalSlot,
        static_cast<size_t>(checked_sum(checked_product(num_signals, extent), result_floats)));
    split_signals(frames, num_signals, margin, signals);
    for (int64_t channel = 0; channel < num_signals; ++channel) {
      const float* const signal = signals + channel * extent + margin;
      if constexpr (std::is_same_v<T, float>) {
        resample(request.filter, ratio, signal, length, out + channel, num_signals);
      } else {
        float* const resampled = signals + num_signals * extent;
        resample(request.filter, ratio, signal, length, resampled, 1);
        for (int64_t i = 0; i < length; ++i)
          out[i * num_signals + channel] = from_normalized<T>(resampled[i]);
      }
    }
  });
  return {file_rate, rate};
}

}  // namespace dali_core
