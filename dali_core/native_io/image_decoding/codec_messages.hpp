// Messages between a thread that wants images decoded and the process that decodes them, over a
// socket that preserves message boundaries. File and pixels are in shared memory. The server that
// forks this process gets its end of the socket, and the memory, with a message of one byte.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/native_io/helper_process/helper_process.hpp"
#include "dali_core/native_io/image_decoding/codec_session.hpp"

namespace dali_core {

struct CodecCommand {
  enum Kind : int32_t { kOpen, kDecode };
  uint64_t number = 0;
  Kind kind = kOpen;
  uint64_t shared_bytes = 0;   // extent of the memory
  uint64_t encoded_bytes = 0;  // the file, at its start
  uint64_t pixels_at = 0;      // where pixels go
  int64_t seconds = 0;         // of processor time that it may take
  CodecRequest request;
};

struct CodecReply {
  enum Outcome : int32_t { kDone, kRefused, kCrashed, kTooSlow };
  uint64_t number = 0;
  Outcome outcome = kDone;
  int32_t signal = 0;  // that ended the decoder
  // The header; see ImageInfo.
  char format[24] = {};
  int64_t height = 0;
  int64_t width = 0;
  int32_t channels = 0;
  DataType sample_type = DataType::kUInt8;
  Orientation orientation;
  char message[800] = {};
};

static_assert(std::is_trivially_copyable_v<CodecCommand>);
static_assert(std::is_trivially_copyable_v<CodecReply>);

// The descriptor in the server, where threads ask for a decoder.
constexpr int kCodecServer = 3;
// Those in the process that decodes.
constexpr int kCodecSocket = 3;
constexpr int kCodecMemory = 4;

}  // namespace dali_core
