// A process that decodes videos: hostile files make codecs overwrite memory, crash or never return,
// and none of that may happen in the user's program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/helper_process/helper_process.hpp"
#include "dali_core/native_io/video/saved_indices.hpp"
#include "dali_core/native_io/video/video_messages.hpp"

namespace dali_core {

// Memory that this process and its helpers see. It only grows, but for what it takes while it is
// not in use.
class FrameBuffer {
 public:
  explicit FrameBuffer(uint64_t number) : number_(number) {}
  ~FrameBuffer();
  FrameBuffer(const FrameBuffer&) = delete;
  FrameBuffer& operator=(const FrameBuffer&) = delete;

  void grow(size_t size);
  // Gives the pages back, until it grows again.
  void release_pages() noexcept;
  uint8_t* data() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }
  uint64_t number() const { return number_; }
  int descriptor() const { return descriptor_; }

 private:
  const uint64_t number_;
  int descriptor_ = -1;
  size_t reserved_ = 0;
  SharedMemory memory_;
};

// What a process is asked for. The bytes of the file are behind `bytes_descriptor`, unless that is
// -1. Those of files have `saved_indices`, if indices are kept.
struct VideoRequest {
  VideoCommand::Kind kind = VideoCommand::kOpen;
  uint64_t file = 0;
  FileVersion version;
  int bytes_descriptor = -1;
  SavedIndices* saved_indices = nullptr;
  std::vector<int64_t> frames;
  double seconds = 0;
  uint32_t num_threads = 1;
  uint32_t flags = 0;
  uint32_t max_files = 1;
  uint64_t codec_bytes = 0;
};

// What a process says is wrong with a file.
struct VideoRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr const char* kWrongAnswer = "the process that decodes it does not answer as it must";

// The process broke down; whose fault it was is for the caller to say.
struct VideoProcessEnded {
  int status = 0;  // as waitpid gives it
  bool has_timed_out() const;
  // Whether it was the request that took the time, and not reading ahead, or other processes.
  bool has_used_its_time() const;
  std::string how() const;
};

// One request at a time. It ends when we do.
class VideoProcess {
 public:
  ~VideoProcess() { stop(); }

  // Returns false if the frame is not what was asked for.
  using TakeFrame = std::function<bool(const SentFrame& frame)>;

  // Gives frames to `take` while the process decodes more. Returns the last reply, as soon as it is
  // there; the frames that were not taken by then are `rest`, and stay valid in `buffer`. Throws
  // what the process says is wrong with the file, as VideoRefused, or VideoProcessEnded. What
  // `take` throws is thrown when the process has done with the request.
  VideoReply call(const std::vector<std::string>& command, const VideoRequest& request,
                  FrameBuffer& buffer, std::vector<SentFrame>& rest, const TakeFrame& take);
  void stop() noexcept;
  bool is_running() const { return socket_ >= 0; }

 private:
  void start(const std::vector<std::string>& command);
  void send(const VideoCommand& command, const std::vector<int>& descriptors);
  VideoCommand ask(const VideoRequest& request, FrameBuffer& buffer);
  // Adds the frames of the next reply to `frames`. Returns false if none is there yet, unless it
  // waits.
  bool receive(uint64_t number, bool waits, VideoReply& reply, std::vector<SentFrame>& frames);
  [[noreturn]] void ended();

  ::pid_t owner_ = 0;  // after a fork, the process belongs to the parent
  ::pid_t process_ = 0;
  int socket_ = -1;
  std::vector<std::string> command_;  // that it was started with
  uint64_t number_ = 0;
  std::set<uint64_t> buffers_;  // that it knows
  std::vector<char> message_;
  std::string refusal_;
};

}  // namespace dali_core
