#include "dali_core/operators/video/native_worker/container.hpp"

extern "C" {
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <new>

namespace dali_core {
namespace {

constexpr int kBlock = 1 << 15;

int descriptor_of(void* opaque) { return *static_cast<int*>(opaque); }

int read_file(void* opaque, uint8_t* target, int size) {
  ssize_t count;
  do count = ::read(descriptor_of(opaque), target, static_cast<size_t>(size));
  while (count < 0 && errno == EINTR);
  if (count < 0) return AVERROR(errno);
  return count == 0 ? AVERROR_EOF : static_cast<int>(count);
}

int64_t seek_file(void* opaque, int64_t offset, int whence) {
  if (whence == AVSEEK_SIZE) {
    struct stat status;
    if (::fstat(descriptor_of(opaque), &status) != 0) return AVERROR(errno);
    return S_ISREG(status.st_mode) ? status.st_size : AVERROR(ENOSYS);
  }
  const off_t place = ::lseek(descriptor_of(opaque), offset, whence & ~AVSEEK_FORCE);
  return place < 0 ? AVERROR(errno) : place;
}

int open_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return AVERROR(errno);
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    return AVERROR(EISDIR);
  }
  return descriptor;
}

void check_opened(int result) {
  if (result < 0) throw VideoFileError("it cannot be opened: " + reason_of(result));
}

}  // namespace

std::string reason_of(int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  ::av_strerror(error, text, sizeof text);
  return text;
}

Packet make_packet() {
  Packet packet(::av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  return packet;
}

Container::Container(const std::string& path) {
  try {
    open(path);
  } catch (...) {
    close();
    throw;
  }
}

Container::~Container() { close(); }

void Container::open(const std::string& path) {
  descriptor_ = open_file(path);
  check_opened(descriptor_);
  auto* block = static_cast<uint8_t*>(::av_malloc(kBlock));
  if (block != nullptr)
    io_ = ::avio_alloc_context(block, kBlock, 0, &descriptor_, read_file, nullptr, seek_file);
  if (io_ == nullptr) {
    ::av_free(block);
    throw std::bad_alloc();
  }
  context_ = ::avformat_alloc_context();
  if (context_ == nullptr) throw std::bad_alloc();
  context_->pb = io_;
  context_->flags |= AVFMT_FLAG_GENPTS;
  // Playlists may name other files and hosts: no protocol is left to open them.
  AVDictionary* options = nullptr;
  ::av_dict_set(&options, "protocol_whitelist", "none", 0);
  const int result = ::avformat_open_input(&context_, path.c_str(), nullptr, &options);
  ::av_dict_free(&options);
  check_opened(result);
  check_opened(::avformat_find_stream_info(context_, nullptr));
  format_ = context_->iformat->name;
  num_streams_ = context_->nb_streams;
  bool has_sound = false;
  for (unsigned i = 0; i < num_streams_; ++i) {
    AVStream* stream = context_->streams[i];
    has_sound = has_sound || stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    const bool is_cover = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    if (stream_ == nullptr) stream_ = stream;
    if (is_cover) continue;
    stream_ = stream;
    break;
  }
  if (stream_ == nullptr)
    throw VideoFileError(has_sound ? kNoVideoStream : "it has neither video nor sound");
}

void Container::close() {
  ::avformat_close_input(&context_);
  if (io_ != nullptr) {
    ::av_freep(&io_->buffer);
    ::avio_context_free(&io_);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void Container::leave_out_other_streams() {
  for (unsigned i = 0; i < context_->nb_streams; ++i)
    if (context_->streams[i] != stream_) context_->streams[i]->discard = AVDISCARD_ALL;
}

int Container::read(AVPacket* packet) {
  while (true) {
    ::av_packet_unref(packet);
    const int result = ::av_read_frame(context_, packet);
    if (result < 0) return result;
    if (packet->stream_index == stream_->index && packet->size > 0) return 0;
  }
}

int Container::seek(int64_t time) {
  return ::av_seek_frame(context_, stream_->index, time, AVSEEK_FLAG_BACKWARD);
}

}  // namespace dali_core
