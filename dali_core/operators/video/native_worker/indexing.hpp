// Finds the frames of videos without decoding any, by the rules of worker/demuxing.py.
#pragma once

#include <string>

#include "dali_core/operators/video/native_worker/packed_index.hpp"

namespace dali_core {

// Reads the packets of a file once. Throws VideoFileError if it is not a sound video.
PackedIndex build_index(const std::string& path);

}  // namespace dali_core
