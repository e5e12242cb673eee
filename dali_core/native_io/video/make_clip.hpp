// Makes a clip of any frames of a video, in any order, with padding.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/video/clip_numbers.hpp"
#include "dali_core/native_io/video/clip_operator.hpp"

namespace dali_core {

// Frames of a clip by their numbers, kFilled among them, and when each is shown.
struct ClipFrames {
  std::vector<int64_t> numbers;
  std::vector<double> seconds;  // made by `make_clip`; -1 where a frame is filled
};

// The colour of padding: one value a channel.
inline std::vector<uint8_t> fill_of(const OperatorConfig& config, int channels) {
  std::vector<int64_t> values{0};
  if (config.values.count("fill_value")) values = config.get<std::vector<int64_t>>("fill_value");
  if (values.size() != 1 && values.size() != static_cast<size_t>(channels))
    throw std::invalid_argument("fill_value must have one entry, or one for each of the " +
                                std::to_string(channels) + " channels (got " +
                                std::to_string(values.size()) + "). Pass one for all.");
  std::vector<uint8_t> fill;
  for (int channel = 0; channel < channels; ++channel)
    fill.push_back(static_cast<uint8_t>(values[values.size() == 1 ? 0 : channel]));
  return fill;
}

// Decodes what `clip.numbers` says and hands it to `sink`, filled frames first.
inline void make_clip(VideoSession& session, const EncodedVideo& video, const VideoInfo& info,
                      const VideoColours& colours, const std::vector<uint8_t>& fill,
                      ClipFrames& clip, ClipSink& sink) {
  const auto count = static_cast<int64_t>(clip.numbers.size());
  sink.begin(count, info.height, info.width, colours.channels());
  clip.seconds.assign(clip.numbers.size(), -1.0);
  std::vector<int64_t> numbers, places;
  for (int64_t place = 0; place < count; ++place) {
    const int64_t number = clip.numbers[static_cast<size_t>(place)];
    if (number == kFilled) {
      sink.take(place, FilledFrame(info.height, info.width, fill));
    } else {
      numbers.push_back(number);
      places.push_back(place);
    }
  }
  if (numbers.empty()) return;

  class Placed : public FrameSink {
   public:
    Placed(const VideoColours& colours, const std::vector<int64_t>& places, ClipFrames& clip,
           ClipSink& sink)
        : colours_(colours), places_(places), clip_(clip), sink_(sink) {}

    void take(int64_t position, const FramePlanes& planes) override {
      const int64_t place = places_[static_cast<size_t>(position)];
      clip_.seconds[static_cast<size_t>(place)] = planes.seconds;
      sink_.take(place, colours_.converter(planes));
    }

   private:
    const VideoColours& colours_;
    const std::vector<int64_t>& places_;
    ClipFrames& clip_;
    ClipSink& sink_;
  };
  Placed frames(colours, places, clip, sink);
  session.decode(video, numbers.data(), static_cast<int64_t>(numbers.size()), frames);
}

}  // namespace dali_core
