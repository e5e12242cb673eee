// Frames of a file by their numbers.
#include <memory>
#include <string>

#include "dali_core/native_io/video/make_clip.hpp"
#include "dali_core/native_io/video/video_settings.hpp"

namespace dali_core {
namespace {

class DecodedClip : public ClipOperator {
 public:
  explicit DecodedClip(const OperatorConfig& config)
      : ClipOperator(config), fill_(fill_of(config, colours().channels())) {
    set_up_video(VideoSettings(config));
  }

  void produce_clip(SampleContext& sample, ClipSink& sink) const override {
    const Tensor& path = sample.input(0);
    const Tensor& numbers = sample.input(1);
    EncodedVideo video;
    video.path = std::make_shared<const std::string>(path.as<char>(),
                                                     static_cast<size_t>(path.num_elements()));
    sample.set_source(video.path);
    ClipFrames clip;
    clip.numbers.assign(numbers.as<int64_t>(), numbers.as<int64_t>() + numbers.num_elements());
    VideoSession& session = video_session();
    make_clip(session, video, session.open(video), colours(), fill_, clip, sink);
  }

 private:
  std::vector<uint8_t> fill_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("video.decoded_clip", DecodedClip)

}  // namespace dali_core
