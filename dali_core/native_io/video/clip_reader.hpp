// Code shared by all readers of videos: a table of ranges of frames, the clip of a sample, its
// label, frame numbers and timestamps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/video/make_clip.hpp"
#include "dali_core/native_io/video/video_settings.hpp"

namespace dali_core {

// Clips are numbered through, range after range; see `clip_table.py`, which makes the table.
class ClipTable {
 public:
  explicit ClipTable(const OperatorConfig& config)
      : clip_files_(config.get<std::vector<int64_t>>("clip_files")),
        clip_begins_(config.get<std::vector<int64_t>>("clip_begins")),
        clip_ends_(config.get<std::vector<int64_t>>("clip_ends")),
        first_clips_(config.get<std::vector<int64_t>>("first_clips")),
        labels_(config.get<std::vector<int64_t>>("clip_labels")),
        errors_(config.get<std::vector<std::string>>("clip_errors")),
        length_(config.get<int64_t>("sequence_length")),
        stride_(config.get<int64_t>("stride")),
        step_(config.get<int64_t>("clip_step")),
        is_uniform_(config.get_or<int64_t>("uniform_sample", 0) != 0),
        is_random_(config.has("clips_per_video")),
        padding_(clip_padding(config.get<std::string>("clip_padding"))),
        // Readers of one pipeline, and its other operators, draw different numbers.
        seed_(config.seed ^ (0x766964656f636c70ULL * static_cast<uint64_t>(config.reader + 2))) {
    for (const std::string& path : config.get<std::vector<std::string>>("clip_paths"))
      paths_.push_back(std::make_shared<const std::string>(path));
    for (const std::string& name : config.get<std::vector<std::string>>("clip_names"))
      names_.push_back(std::make_shared<const std::string>(name));
  }

  struct Clip {
    std::shared_ptr<const std::string> path;
    int64_t label = 0;
    int64_t first = 0;  // number of its first frame
    ClipFrames frames;
  };

  // Returns the clip of a sample, and sets the sample's source.
  Clip find(SampleContext& sample, int reader) const {
    const int64_t index = sample.reader_index(reader);
    const auto after = std::upper_bound(first_clips_.begin(), first_clips_.end(), index);
    const auto range = static_cast<size_t>(after - first_clips_.begin() - 1);
    const auto file = static_cast<size_t>(clip_files_[range]);
    Clip clip;
    clip.path = paths_[file];
    sample.set_source(names_[file]);
    if (!errors_[file].empty()) throw std::runtime_error(errors_[file]);
    clip.label = labels_[range];
    const int64_t begin = clip_begins_[range], end = clip_ends_[range];
    clip.first = begin;
    if (is_random_) {
      clip.first += random_start(sample, end - begin - (length_ - 1) * stride_);
    } else if (!is_uniform_) {
      clip.first += (index - first_clips_[range]) * step_;
    }
    clip.frames.numbers.resize(static_cast<size_t>(length_));
    for (int64_t i = 0; i < length_; ++i)
      clip.frames.numbers[static_cast<size_t>(i)] =
          is_uniform_ ? spread_number(i, length_, begin, end)
                      : padded_number(clip.first + i * stride_, end, padding_);
    return clip;
  }

 private:
  // One of `count` starts.
  int64_t random_start(SampleContext& sample, int64_t count) const {
    if (count <= 1) return 0;
    RandomStream random = sample.random(seed_);
    return random.next_below(
        static_cast<uint32_t>(std::min<int64_t>(count, std::numeric_limits<uint32_t>::max())));
  }

  std::vector<std::shared_ptr<const std::string>> names_, paths_;
  std::vector<int64_t> clip_files_, clip_begins_, clip_ends_, first_clips_, labels_;
  std::vector<std::string> errors_;  // of each file; empty if it is sound
  int64_t length_, stride_, step_;
  bool is_uniform_, is_random_;
  ClipPadding padding_;
  uint64_t seed_;
};

// The outputs beside the clip: label, frame numbers and timestamps, as far as they are asked for.
class ClipNotes {
 public:
  explicit ClipNotes(const OperatorConfig& config, int first_output = 1)
      : first_output_(first_output),
        has_label_(config.get<int64_t>("has_labels") != 0),
        has_seconds_(config.get<bool>("enable_timestamps")),
        numbers_(config.get<std::string>("enable_frame_num")) {}

  void write(SampleContext& sample, const ClipTable::Clip& clip) const {
    int output = first_output_;
    const auto count = static_cast<int64_t>(clip.frames.numbers.size());
    if (has_label_)
      *sample.output(output++, DataType::kInt32, {1}).as<int32_t>() =
          static_cast<int32_t>(clip.label);
    if (numbers_ == "scalar") {
      *sample.output(output++, DataType::kInt32, {1}).as<int32_t>() =
          static_cast<int32_t>(clip.first);
    } else if (numbers_ == "sequence") {
      auto* const numbers = sample.output(output++, DataType::kInt32, {count}).as<int32_t>();
      for (int64_t i = 0; i < count; ++i)
        numbers[i] = static_cast<int32_t>(clip.frames.numbers[static_cast<size_t>(i)]);
    }
    if (has_seconds_)
      std::copy(clip.frames.seconds.begin(), clip.frames.seconds.end(),
                sample.output(output++, DataType::kFloat64, {count}).as<double>());
  }

 private:
  int first_output_;
  bool has_label_, has_seconds_;
  std::string numbers_;
};

class ClipReader : public ClipOperator {
 public:
  explicit ClipReader(const OperatorConfig& config)
      : ClipOperator(config),
        reader_(config.reader),
        table_(config),
        notes_(config),
        fill_(fill_of(config, colours().channels())) {
    set_up_video(VideoSettings(config));
  }

  void produce_clip(SampleContext& sample, ClipSink& sink) const override {
    ClipTable::Clip clip = table_.find(sample, reader_);
    EncodedVideo video;
    video.path = clip.path;
    VideoSession& session = video_session();
    make_clip(session, video, session.open(video), colours(), fill_, clip.frames, sink);
    notes_.write(sample, clip);
  }

 private:
  int reader_;
  ClipTable table_;
  ClipNotes notes_;
  std::vector<uint8_t> fill_;
};

}  // namespace dali_core
