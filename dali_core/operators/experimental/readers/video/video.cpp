// fn.experimental.readers.video: clips of videos, by the rules of its table.
#include "dali_core/native_io/video/clip_reader.hpp"

namespace dali_core {

DALI_CORE_REGISTER_OPERATOR("experimental.readers.video", ClipReader)

}  // namespace dali_core
