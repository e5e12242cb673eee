// An open video file, of which only the file itself is ever read.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "dali_core/native_io/video/video_messages.hpp"

namespace dali_core {

// The file is not a sound video.
struct VideoFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What FFmpeg says about an error of its own.
std::string reason_of(int error);

struct PacketDeleter {
  void operator()(AVPacket* packet) const { ::av_packet_free(&packet); }
};
using Packet = std::unique_ptr<AVPacket, PacketDeleter>;
Packet make_packet();

class Container {
 public:
  // Throws VideoFileError if it cannot be opened, or has no video stream.
  explicit Container(const std::string& path);
  ~Container();
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  // The stream whose frames count: the first one that is not a cover picture.
  AVStream* stream() const { return stream_; }
  const std::string& format() const { return format_; }
  bool is_matroska() const { return format_.find("matroska") != std::string::npos; }
  int descriptor() const { return descriptor_; }
  void leave_out_other_streams();

  // The next packet of the stream that has any content. Gives 0, AVERROR_EOF or another error.
  int read(AVPacket* packet);
  int seek(int64_t time);

 private:
  void open(const std::string& path);
  void close();

  int descriptor_ = -1;
  AVIOContext* io_ = nullptr;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
  unsigned num_streams_ = 0;  // of those that the file begins with
  std::string format_;
};

}  // namespace dali_core
