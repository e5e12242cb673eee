// Headers of sounds, which lie: where the sound is must be inside of the file.
#include "dali_core/native_io/sound/sound_layout.hpp"

#include <stdexcept>

#include "dali_core/native_io/sound/sound_tags.hpp"
#include "tests/fuzz/target.hpp"

using namespace dali_core;

namespace {

// Reads what libsndfile would, in pieces.
void read_all(SoundBytes link) {
  SoundInput input = SoundBytes::input();
  FUZZ_CHECK(input.length(&link) == link.size);
  char bytes[100];
  int64_t total = 0;
  while (const int64_t count = input.read(bytes, sizeof bytes, &link)) {
    FUZZ_CHECK(count > 0 && count <= static_cast<int64_t>(sizeof bytes));
    total += count;
  }
  FUZZ_CHECK(total == link.size && input.tell(&link) == link.size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t data_size) {
  const ExactCopy copy(data, data_size);
  const char* const bytes = reinterpret_cast<const char*>(copy.data());
  const auto size = static_cast<int64_t>(data_size);
  const int64_t front = leading_tag_size(bytes, size), back = trailing_tag_size(bytes, size);
  FUZZ_CHECK(front >= 0 && front <= size && back >= 0 && back <= size);
  SoundLayout layout;
  try {
    layout = find_sound(bytes, size);
  } catch (const std::invalid_argument&) {
    return 0;
  }
  FUZZ_CHECK(!layout.links.empty());
  int64_t end = 0;  // links follow one another
  for (const SoundBytes& link : layout.links) {
    FUZZ_CHECK(link.bytes - bytes >= end && link.size >= 0 && link.replaced_size <= 24);
    FUZZ_CHECK(link.bytes - bytes + link.size <= size);
    end = link.bytes - bytes + link.size;
    read_all(link);
  }
  FUZZ_CHECK(layout.counted >= -1);
  if (!layout.mpeg) return 0;
  const MpegAudio& mpeg = *layout.mpeg;
  FUZZ_CHECK(mpeg.num_frames >= 0 && mpeg.frame_samples > 0 && mpeg.delay >= 0);
  FUZZ_CHECK(mpeg.padding >= 0 && (mpeg.num_frames > 0 || layout.counted <= 0));
  return 0;
}
