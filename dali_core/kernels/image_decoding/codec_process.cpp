#include "dali_core/kernels/image_decoding/codec_process.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/image_decoding/nvimgcodec_session.hpp"

namespace dali_core {
namespace {

[[noreturn]] void refuse_to_start(int error) {
  throw std::runtime_error(
      "the process that runs nvImageCodec must be able to start (got: " +
      std::string(std::strerror(error)) +
      "). Allow it, or set DALI_CORE_CODEC_PROCESS=0 to decode files that you trust without it.");
}

int moved_up(int descriptor) {
  const int moved = move_up(descriptor);
  if (moved < 0) refuse_to_start(-moved);
  return moved;
}

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

CodecSession& CodecSession::of_this_thread(const CodecLibraryPaths& paths) {
  static thread_local std::unique_ptr<CodecSession> here, there;
  if (paths.library.empty() || paths.process.empty()) {
    if (!here) here.reset(new NvimgcodecSession(CodecLibrary::get(paths)));
    return *here;
  }
  if (!there) there.reset(new CodecProcess(paths));
  return *there;
}

void CodecProcess::start() {
  if (owner_ == ::getpid() && socket_ >= 0) return;
  stop();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) refuse_to_start(errno);
  owner_ = ::getpid();
  socket_ = ends[0];
  const int theirs = moved_up(ends[1]);
  const int memory = ::memfd_create("dali_core images", MFD_CLOEXEC);
  int error = memory < 0 ? errno : 0;
  if (error == 0) {
    memory_ = moved_up(memory);
    std::vector<std::string> command = paths_.process;
    command.push_back(paths_.library);
    command.insert(command.end(), paths_.extensions.begin(), paths_.extensions.end());
    error = start_helper(command, {theirs, memory_}, process_);
  }
  ::close(theirs);
  if (error != 0) {
    process_ = 0;
    stop();
    refuse_to_start(error);
  }
}

void CodecProcess::stop() noexcept {
  shared_.unmap();
  for (int* descriptor : {&socket_, &memory_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
  // It ends by itself when nobody holds the other end of its socket.
  if (process_ > 0 && owner_ == ::getpid()) wait_for_helper(process_);
  process_ = 0;
}

void CodecProcess::grow(size_t size) {
  if (size <= shared_.size()) return;
  const size_t wanted = aligned(size + size / 4 + (size_t{1} << 16));
  // Reserved at once: a page that is missing later would be a signal, not an error.
  const int error = ::posix_fallocate(memory_, 0, static_cast<off_t>(wanted));
  if (error != 0) throw std::bad_alloc();
  shared_.map(memory_, wanted);
}

ImageInfo CodecProcess::open(const EncodedImage& encoded) {
  encoded_ = encoded;
  // Codecs need a tenth of a second for 2**20 pixels, and a quarter for 2**20 bytes. Pixels count
  // once the header is known, whatever part of the image is asked for.
  constexpr int64_t kPerSecond = 1 << 20;
  seconds_ = paths_.seconds + static_cast<int64_t>(encoded.size) / kPerSecond;
  const CodecReply reply = call(CodecCommand{});
  seconds_ += reply.height * reply.width / kPerSecond;
  ImageInfo info;
  info.format = reply.format;
  info.height = reply.height;
  info.width = reply.width;
  info.channels = reply.channels;
  info.sample_type = reply.sample_type;
  info.orientation = reply.orientation;
  return info;
}

uint8_t* CodecProcess::decode(const CodecRequest& request, void* output) {
  CodecCommand command;
  command.kind = CodecCommand::kDecode;
  command.pixels_at = aligned(encoded_.size);
  command.request = request;
  call(command);
  uint8_t* const pixels = shared_.data() + command.pixels_at;
  if (output == nullptr) return pixels;
  std::memcpy(output, pixels, request.num_bytes());
  return static_cast<uint8_t*>(output);
}

CodecReply CodecProcess::call(CodecCommand command) {
  command.encoded_bytes = encoded_.size;
  command.seconds = seconds_;
  const size_t pixels =
      command.kind == CodecCommand::kDecode ? aligned(command.request.num_bytes()) : 0;
  CodecReply reply;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool is_fresh = owner_ != ::getpid() || socket_ < 0;
    start();
    grow(aligned(encoded_.size) + pixels);
    // The bytes are there already, unless a codec that broke down overwrote them.
    if (command.kind == CodecCommand::kOpen || attempt > 0 || is_fresh)
      std::memcpy(shared_.data(), encoded_.data, encoded_.size);
    command.shared_bytes = shared_.size();
    command.number = ++number_;
    if (!exchange(command, reply)) {
      stop();
      reply.outcome = CodecReply::kCrashed;
      continue;
    }
    if (reply.outcome == CodecReply::kDone) return reply;
    if (reply.outcome != CodecReply::kCrashed) break;
  }
  if (reply.outcome == CodecReply::kRefused) throw std::runtime_error(reply.message);
  if (reply.outcome == CodecReply::kTooSlow)
    throw std::runtime_error(
        "an image of its size must be decoded in at most " + std::to_string(seconds_) +
        " s of processor time (got more). The file is damaged, or made to cost time.");
  throw std::runtime_error(
      "the file must be a sound image (got one that its codec breaks down on, in a process of its "
      "own, with signal " +
      std::to_string(reply.signal) + "). The file is damaged, or made to do harm.");
}

bool CodecProcess::exchange(const CodecCommand& command, CodecReply& reply) {
  ssize_t count;
  do count = ::send(socket_, &command, sizeof command, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  if (count != sizeof command) return false;
  if (receive_reply<CodecReply>(socket_, command.number, &reply, sizeof reply) <= 0) return false;
  reply.format[sizeof reply.format - 1] = reply.message[sizeof reply.message - 1] = '\0';
  return true;
}

}  // namespace dali_core

#endif
