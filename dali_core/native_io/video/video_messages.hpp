// Messages between a process that wants frames and the one that decodes them, over a socket that
// preserves message boundaries. The other side is worker/serving.py and worker/planes.py.
#pragma once

#include <cstdint>
#include <type_traits>

namespace dali_core {

struct VideoCommand {
  enum Kind : uint32_t { kOpen, kDecode, kGoOn, kStop };
  enum Flags : uint32_t {
    kNewBuffer = 1,    // a descriptor of the memory comes along
    kHasBytes = 2,     // then one of the file's bytes
    kSequential = 4,   // frames shortly behind these are likely to be next
    kKeepBetween = 8,  // so are those that are left out before them
    kHasIndices = 16,  // kNeedsIndex and kMadeIndex are answered
  };
  uint64_t number = 0;
  uint64_t buffer = 0;  // which memory; it begins with the path and, 8-aligned, frame numbers
  uint64_t buffer_bytes = 0;
  uint64_t file = 0;
  uint64_t path_bytes = 0;
  uint64_t count = 0;        // of frames; after kNeedsIndex: bytes of the index, 0 for none
  uint64_t codec_bytes = 0;  // that open decoders may hold on to, roughly
  double seconds = 0;        // of processor time that it may take
  Kind kind = kOpen;
  uint32_t num_threads = 1;
  uint32_t flags = 0;
  uint32_t max_files = 1;
};

struct VideoReply {
  enum Kind : int32_t {
    kPart,  // frames that are done; it waits for kGoOn before it overwrites the memory
    kDone,
    kRefused,
    kNeeds,  // as kPart, and the next frame needs more memory
    kReady,  // as kPart, but it continues at once, with other memory: optional, for frames that
             // are done before the last one is
    kNeedsIndex,  // it waits for kGoOn, with the saved index of the file in the memory
    kMadeIndex,   // the index of the file is in the memory, to be saved; it waits for kGoOn
  };
  uint64_t number = 0;
  Kind kind = kDone;
  int32_t count = 0;  // of `SentFrame`s that follow, or of keyframes in the memory
  int64_t width = 0;  // upright; for kNeeds: bytes of memory that are needed; for kMadeIndex: bytes
  int64_t height = 0;
  int64_t num_frames = 0;
  int64_t unused = 0;
  double frames_per_second = 0;
};

struct SentFrame {
  int64_t number;
  double seconds;
  int64_t offset[3];
  int64_t stride[3];
  int32_t width;
  int32_t height;
  int32_t num_planes;
  int32_t chroma_shift_x;
  int32_t chroma_shift_y;
  int32_t bits;
  int32_t full_range;
  int32_t is_rgb;
  int32_t matrix;
  int32_t orientation;
};

static_assert(std::is_trivially_copyable_v<VideoCommand> && sizeof(VideoCommand) == 80);
static_assert(std::is_trivially_copyable_v<VideoReply> && sizeof(VideoReply) == 56);
static_assert(std::is_trivially_copyable_v<SentFrame> && sizeof(SentFrame) == 104);

// Why a file of sound is refused; NO_VIDEO_STREAM of worker/packed_index.py.
constexpr const char* kNoVideoStream = "it has sound, and no video stream";

constexpr int kVideoSocket = 3;
constexpr int kVideoMessageBytes = 1 << 16;

}  // namespace dali_core
