// The links of a chained Ogg file: complete files that follow one another.
#pragma once

#include <string>
#include <vector>

#include "dali_core/native_io/sound/sound_bytes.hpp"

namespace dali_core {

struct OggLinks {
  std::vector<SoundBytes> links;  // each with a mark of its end
  // The number of samples that the last page adds; all of them if that is unknown.
  int64_t last_page_samples = 0;
  std::string damage;  // if the last page is cut
};

OggLinks split_ogg(const SoundBytes& file);

}  // namespace dali_core
