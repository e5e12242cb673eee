// fn.experimental.inputs.video: sequences of videos that were fed, in files without names, which
// are emptied when all their sequences are decoded.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "dali_core/native_io/video/make_clip.hpp"
#include "dali_core/native_io/video/video_settings.hpp"

namespace dali_core {
namespace {

class FedVideos : public ClipOperator {
 public:
  explicit FedVideos(const OperatorConfig& config)
      : ClipOperator(config),
        length_(config.get<int64_t>("sequence_length")),
        is_padded_(config.get<std::string>("last_sequence_policy") == "pad"),
        fill_(fill_of(config, colours().channels())) {
    set_up_video(VideoSettings(config));
  }

  void produce_clip(SampleContext& sample, ClipSink& sink) const override {
    Sequence sequence;
    std::memcpy(&sequence, sample.input(0).data, sizeof sequence);
    EncodedVideo video;
    video.descriptor = static_cast<int>(sequence.descriptor);
    video.size = sequence.num_bytes;
    sample.set_source(std::make_shared<const std::string>(
        "video " + std::to_string(sequence.video) + " of those that were fed"));
    try {
      decode(video, sequence, sink);
    } catch (const Refused&) {
      throw;  // it comes once more
    } catch (...) {
      finish(video, sequence);
      throw;
    }
    finish(video, sequence);
  }

 private:
  // As `FedVideosStep` writes it.
  struct Sequence {
    int64_t first, num_frames;
    int64_t num_sequences;  // of the video
    int64_t video;          // the how manieth, from 0
    int64_t descriptor, num_bytes;
  };

  void decode(const EncodedVideo& video, const Sequence& sequence, ClipSink& sink) const {
    VideoSession& session = video_session();
    const VideoInfo info = session.open(video);
    ClipFrames clip;
    const int64_t count = is_padded_ ? length_ : sequence.num_frames;
    for (int64_t i = 0; i < count; ++i)
      clip.numbers.push_back(i < sequence.num_frames ? sequence.first + i : kFilled);
    make_clip(session, video, info, colours(), fill_, clip, sink);
  }

  // Counts the finished sequences of a video. The file is closed where it was opened.
  void finish(const EncodedVideo& video, const Sequence& sequence) const {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (++num_finished_[sequence.video] < sequence.num_sequences) return;
    num_finished_.erase(sequence.video);
    video_session().forget(video);
    static_cast<void>(!::ftruncate(video.descriptor, 0));
  }

  int64_t length_;
  bool is_padded_;
  std::vector<uint8_t> fill_;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, int64_t> num_finished_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("experimental.inputs.video", FedVideos)

}  // namespace dali_core
