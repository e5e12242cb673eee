#include "dali_core/native_io/image_decoding/codec_process.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/native_io/image_decoding/nvimgcodec_session.hpp"

namespace dali_core {
namespace {

[[noreturn]] void refuse_to_start(int error) {
  throw std::runtime_error(
      "the process that runs nvImageCodec must be able to start (got: " +
      std::string(std::strerror(error)) +
      "). Allow it, or set DALI_CORE_CODEC_PROCESS=0 to decode files that you trust without it.");
}

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

// The servers of this program, by the commands that start them.
class CodecServers {
 public:
  CodecServers();

  // Has a decoder forked that sees this memory. `socket` leads to it. Gives 0 or the error.
  int connect(const std::vector<std::string>& command, int memory, int& socket);

 private:
  struct Server {
    int socket = -1;
    ::pid_t process = 0;
  };

  void close_all();

  std::mutex mutex_;
  std::map<std::vector<std::string>, Server> servers_;
};

// Made when this module is loaded, since a fork may come at any time later, and never destroyed:
// threads of other pipelines may still decode while the process ends.
CodecServers& servers = *new CodecServers;

// No fork comes between the creation of a socket and the end of what is done with it: a child would
// keep an end open, so that the other end would not see it closed. A child has no servers: those
// here are its parent's, and would outlive it if the child kept their sockets.
CodecServers::CodecServers() {
  ::pthread_atfork([] { servers.mutex_.lock(); }, [] { servers.mutex_.unlock(); },
                   [] {
                     servers.close_all();
                     servers.mutex_.unlock();
                   });
}

void CodecServers::close_all() {
  for (auto& [command, server] : servers_) {
    if (server.socket >= 0) ::close(server.socket);
    server = Server();
  }
}

int CodecServers::connect(const std::vector<std::string>& command, int memory, int& socket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  const std::vector<int> theirs{ends[1], memory};
  Server& server = servers_[command];
  int error = server.socket < 0 ? ENOTCONN : send_message(server.socket, "", 1, theirs);
  if (error != 0) {
    // There is none yet, or it has been killed.
    if (server.socket >= 0) ::close(server.socket);
    if (server.process > 0) wait_for_helper(server.process);
    server = Server();
    error = start_helper(command, server.socket, server.process);
    if (error == 0) error = send_message(server.socket, "", 1, theirs);
  }
  ::close(ends[1]);
  if (error == 0)
    socket = ends[0];
  else
    ::close(ends[0]);
  return error;
}

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
  owner_ = ::getpid();
  memory_ = ::memfd_create("dali_core images", MFD_CLOEXEC);
  if (memory_ < 0) refuse_to_start(errno);
  std::vector<std::string> command = paths_.process;
  command.push_back(paths_.library);
  command.insert(command.end(), paths_.extensions.begin(), paths_.extensions.end());
  if (const int error = servers.connect(command, memory_, socket_)) {
    stop();
    refuse_to_start(error);
  }
}

void CodecProcess::stop() noexcept {
  shared_.unmap();
  if (socket_ >= 0 && owner_ == ::getpid()) {
    // The decoder ends by itself when nothing more can come, and closes its end.
    ::shutdown(socket_, SHUT_WR);
    char rest;
    while (receive_message(socket_, &rest, 1) > 0) {
    }
  }
  for (int* descriptor : {&socket_, &memory_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
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
  for (int attempt = 0; attempt < 3; ++attempt) {
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
    if (reply.outcome != CodecReply::kCrashed || attempt > 0) break;
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
  if (send_message(socket_, &command, sizeof command) != 0) return false;
  if (receive_reply<CodecReply>(socket_, command.number, &reply, sizeof reply) <= 0) return false;
  reply.format[sizeof reply.format - 1] = reply.message[sizeof reply.message - 1] = '\0';
  return true;
}

}  // namespace dali_core

#endif
