// Settings of video decoding in this process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

struct VideoSettings {
  std::vector<std::string> process;  // the command that decodes; nothing can if it is empty
  std::vector<std::string> indices;  // the command that has saved indices; empty to keep none
  int64_t seconds = 10;              // of processor time that a request for nothing may take
  int64_t files = 8;                 // that each of these processes keeps open
  int64_t megabytes = 64;            // of decoded frames in flight for each thread

  VideoSettings() = default;
  explicit VideoSettings(const OperatorConfig& config)
      : process(config.get_or<std::vector<std::string>>("video_process", {})),
        indices(config.get_or<std::vector<std::string>>("video_indices", {})),
        seconds(config.get_or<int64_t>("video_seconds", seconds)),
        files(config.get_or<int64_t>("video_files", files)),
        megabytes(config.get_or<int64_t>("video_megabytes", megabytes)) {}
};

// Operators that use `video_session()` call this when they are made, with the arguments that
// `video_arguments` of backends.py gives. A process that another command started ends when it is
// needed next, and one of the new command takes its place.
void set_up_video(const VideoSettings& settings);

}  // namespace dali_core
