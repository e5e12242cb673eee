// nvImageCodec in another process. Hostile files make its codecs overwrite memory or crash, and its
// codecs print what they dislike to standard error: neither may happen in the user's program.
#pragma once

#include "dali_core/native_io/image_decoding/codec_messages.hpp"
#include "dali_core/native_io/image_decoding/codec_session.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

namespace dali_core {

// One decoder, for one thread of ours. It ends when we do; what forks it is one process of the
// whole program, which has loaded nvImageCodec and ends when the program does.
class CodecProcess : public CodecSession {
 public:
  explicit CodecProcess(const CodecLibraryPaths& paths) : paths_(paths) {}
  ~CodecProcess() override { stop(); }
  CodecProcess(const CodecProcess&) = delete;
  CodecProcess& operator=(const CodecProcess&) = delete;

  ImageInfo open(const EncodedImage& encoded) override;
  uint8_t* decode(const CodecRequest& request, void* output) override;

 private:
  void start();
  void stop() noexcept;
  void grow(size_t size);
  // Tries twice where the codec breaks down: the first time it may be the fault of an earlier
  // image. Tries three times where processes are gone: a server that is killed may take a first
  // request with it, and, if it has not closed its socket yet, a second one.
  CodecReply call(CodecCommand command);
  bool exchange(const CodecCommand& command, CodecReply& reply);

  const CodecLibraryPaths paths_;
  EncodedImage encoded_;
  int64_t seconds_ = 0;  // that the open image may take
  ::pid_t owner_ = 0;    // after a fork, the decoder belongs to the parent
  int socket_ = -1;
  int memory_ = -1;
  SharedMemory shared_;
  uint64_t number_ = 0;
};

}  // namespace dali_core

#endif
