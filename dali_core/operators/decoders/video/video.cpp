// fn.decoders.video: frames of videos that are in memory.
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/video/make_clip.hpp"
#include "dali_core/native_io/video/video_settings.hpp"

namespace dali_core {
namespace {

class VideoDecoder : public ClipOperator {
 public:
  explicit VideoDecoder(const OperatorConfig& config)
      : ClipOperator(config),
        frames_(config, "frames"),
        start_(config, "start_frame"),
        end_(config, "end_frame"),
        length_(config, "sequence_length"),
        stride_(config, "stride"),
        padding_(clip_padding(config.get<std::string>("pad_mode"))),
        fill_(fill_of(config, colours().channels())) {
    set_up_video(VideoSettings(config));
  }

  void produce_clip(SampleContext& sample, ClipSink& sink) const override {
    const Tensor& input = sample.input(0);
    if (input.type != DataType::kUInt8 || input.shape.ndim != 1)
      throw std::invalid_argument(
          std::string("the input must be the bytes of a video, uint8 in one dimension (got ") +
          name_of(input.type) + " of shape " + to_string(input.shape) +
          "). Read files without decoding them.");
    EncodedVideo video;
    video.bytes = input.as<uint8_t>();
    video.size = input.shape[0];
    const VideoInfo info = video_session().open(video);
    ClipFrames clip;
    if (frames_.given()) {
      list_frames(sample, info.num_frames, clip.numbers);
    } else {
      list_range(sample, info.num_frames, clip.numbers);
    }
    make_clip(video_session(), video, info, colours(), fill_, clip, sink);
  }

 private:
  void list_frames(SampleContext& sample, int64_t num_frames, std::vector<int64_t>& out) const {
    std::vector<int64_t> storage;
    for (const int64_t number : frames_.at(sample, storage)) {
      if (padding_ == ClipPadding::kNone && (number < 0 || number >= num_frames))
        throw std::out_of_range("frames must be from 0 to " + std::to_string(num_frames - 1) +
                                ", the last of the video (got " + std::to_string(number) +
                                "). Choose others, or a pad_mode.");
      out.push_back(padded_number(number, num_frames, padding_));
    }
  }

  void list_range(SampleContext& sample, int64_t num_frames, std::vector<int64_t>& out) const {
    constexpr int64_t kMaxFrames = int64_t{1} << 31;
    const int64_t start = start_.at_or(sample, 0);
    const int64_t stride = stride_.at_or(sample, 1);
    if (start < -kMaxFrames || start >= num_frames)
      throw std::out_of_range("start_frame must be below " + std::to_string(num_frames) +
                              ", the number of frames (got " + std::to_string(start) +
                              "). Start earlier.");
    if (start < 0 && padding_ == ClipPadding::kNone)
      throw std::out_of_range("start_frame must not be below 0 where pad_mode is \"none\" (got " +
                              std::to_string(start) + "). Start at 0, or choose a pad_mode.");
    int64_t count = 0;
    if (length_.given()) {
      count = length_.at(sample);
    } else {
      const int64_t end = end_.at_or(sample, num_frames);
      if (end <= start || end >= kMaxFrames)
        throw std::out_of_range("end_frame must be above start_frame, " + std::to_string(start) +
                                ", and below 2**31 (got " + std::to_string(end) +
                                "). It is the first frame that is not wanted.");
      count = (end - start + stride - 1) / stride;
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t number = start + i * stride;
      if (padding_ == ClipPadding::kNone && number >= num_frames) break;
      out.push_back(padded_number(number, num_frames, padding_));
    }
  }

  ListArgument<int64_t> frames_;
  Argument<int64_t> start_, end_, length_, stride_;
  ClipPadding padding_;
  std::vector<uint8_t> fill_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("decoders.video", VideoDecoder)

}  // namespace dali_core
