// Decodes videos for the process that starts it: `dali_core_video_worker frames`, or
// `dali_core_video_worker index SECONDS`.
extern "C" {
#include <libavutil/log.h>
}

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "dali_core/operators/video/native_worker/serving.hpp"

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  const std::string rest = count > 2 ? arguments[2] : "";
  ::av_log_set_level(AV_LOG_QUIET);
  try {
    if (mode == "frames") return dali_core::serve_frames();
    if (mode == "index") return dali_core::serve_indices(std::strtod(rest.c_str(), nullptr));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "the mode must be 'frames' or 'index' (got '%s')\n", mode.c_str());
  return 2;
}
