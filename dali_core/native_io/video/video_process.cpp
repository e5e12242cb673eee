#include "dali_core/native_io/video/video_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

namespace dali_core {
namespace {

constexpr size_t kPage = 1 << 16;

size_t aligned(size_t size, size_t to) { return (size + to - 1) / to * to; }

[[noreturn]] void refuse_to_start(int error) {
  throw std::runtime_error("the process that decodes videos must be able to start (got: " +
                           std::string(std::strerror(error)) + "). Allow it.");
}

}  // namespace

FrameBuffer::~FrameBuffer() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FrameBuffer::grow(size_t size) {
  if (size <= reserved_) return;
  if (descriptor_ < 0) {
    descriptor_ = ::memfd_create("dali_core frames", MFD_CLOEXEC);
    if (descriptor_ < 0) throw std::bad_alloc();
  }
  const size_t wanted = aligned(size, kPage);
  // Reserved at once: a page that is missing later would be a signal, not an error.
  if (::posix_fallocate(descriptor_, 0, static_cast<off_t>(wanted)) != 0) throw std::bad_alloc();
  reserved_ = wanted;
  if (wanted > memory_.size()) memory_.map(descriptor_, wanted);
}

void FrameBuffer::release_pages() noexcept {
  if (descriptor_ < 0 || ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                     static_cast<off_t>(memory_.size())) != 0)
    return;
  reserved_ = 0;
}

bool VideoProcessEnded::has_timed_out() const {
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM);
}

bool VideoProcessEnded::has_used_its_time() const {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
}

std::string VideoProcessEnded::how() const {
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // That of the dynamic loader.
  if (code == 127) return "code 127, for want of a library that it was built with";
  return "code " + std::to_string(code);
}

void VideoProcess::start(const std::vector<std::string>& command) {
  if (owner_ == ::getpid() && socket_ >= 0 && command == command_) return;
  stop();
  command_ = command;
  owner_ = ::getpid();
  if (const int error = start_helper(command, socket_, process_)) refuse_to_start(error);
}

void VideoProcess::stop() noexcept {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  // It ends by itself once the other end of its socket is closed; its current work is of no use.
  if (process_ > 0 && owner_ == ::getpid()) {
    ::kill(process_, SIGKILL);
    wait_for_helper(process_);
  }
  process_ = 0;
  buffers_.clear();
}

void VideoProcess::ended() {
  VideoProcessEnded how;
  ::close(socket_);
  socket_ = -1;
  if (process_ > 0) how.status = wait_for_helper(process_);
  process_ = 0;
  stop();
  throw how;
}

void VideoProcess::send(const VideoCommand& command, const std::vector<int>& descriptors) {
  if (send_message(socket_, &command, sizeof command, descriptors) != 0) ended();
}

bool VideoProcess::receive(uint64_t number, bool waits, VideoReply& reply,
                           std::vector<SentFrame>& frames) {
  message_.resize(kVideoMessageBytes);
  const ssize_t received = receive_reply<VideoReply>(socket_, number, message_.data(),
                                                     message_.size(), waits ? 0 : MSG_DONTWAIT);
  if (received < 0 && !waits && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
  if (received <= 0) ended();
  const size_t size = static_cast<size_t>(received) - sizeof reply;
  std::memcpy(&reply, message_.data(), sizeof reply);
  const char* const body = message_.data() + sizeof reply;
  if (reply.kind == VideoReply::kRefused) {
    refusal_.assign(body, size);
    return true;
  }
  const size_t before = frames.size(), count = size / sizeof(SentFrame);
  frames.resize(before + count);
  if (count > 0) std::memcpy(frames.data() + before, body, count * sizeof(SentFrame));
  return true;
}

VideoCommand VideoProcess::ask(const VideoRequest& request, FrameBuffer& buffer) {
  VideoCommand message;
  std::vector<int> descriptors;
  message.flags = request.flags;
  if (request.saved_indices != nullptr) message.flags |= VideoCommand::kHasIndices;
  const std::string& path = request.version.path;
  const size_t frames_at = aligned(path.size(), sizeof(int64_t));
  buffer.grow(frames_at + request.frames.size() * sizeof(int64_t));
  std::memcpy(buffer.data(), path.data(), path.size());
  if (!request.frames.empty())
    std::memcpy(buffer.data() + frames_at, request.frames.data(),
                request.frames.size() * sizeof(int64_t));
  if (buffers_.insert(buffer.number()).second) {
    message.flags |= VideoCommand::kNewBuffer;
    descriptors.push_back(buffer.descriptor());
  }
  if (request.bytes_descriptor >= 0) {
    message.flags |= VideoCommand::kHasBytes;
    descriptors.push_back(request.bytes_descriptor);
  }
  message.number = ++number_;
  message.buffer = buffer.number();
  message.buffer_bytes = buffer.size();
  message.file = request.file;
  message.path_bytes = path.size();
  message.count = request.frames.size();
  message.codec_bytes = request.codec_bytes;
  message.seconds = request.seconds;
  message.kind = request.kind;
  message.num_threads = request.num_threads;
  message.max_files = request.max_files;
  send(message, descriptors);
  return message;
}

VideoReply VideoProcess::call(const std::vector<std::string>& command, const VideoRequest& request,
                              FrameBuffer& buffer, std::vector<SentFrame>& rest,
                              const TakeFrame& take) {
  start(command);
  std::exception_ptr failure;
  const auto give = [&](const SentFrame& frame) {
    if (failure) return;
    bool is_right = true;
    try {
      is_right = take(frame);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!is_right) throw VideoRefused(kWrongAnswer);
  };
  size_t taken = 0;     // of `rest`
  size_t received = 0;  // of the frames that were asked for
  // An index is needed once, and made once.
  bool has_needed = request.saved_indices == nullptr, has_made = has_needed;
  try {
    const VideoCommand message = ask(request, buffer);
    while (true) {
      VideoReply reply;
      const size_t before = rest.size();
      if (!receive(message.number, taken == rest.size(), reply, rest)) {
        give(rest[taken++]);  // one, since others may wait for this process to be done
        continue;
      }
      for (size_t i = before; i < rest.size(); ++i, ++received)
        if (received == request.frames.size() || rest[i].number != request.frames[received])
          throw VideoRefused(kWrongAnswer);
      if (reply.kind == VideoReply::kRefused) break;
      if (reply.kind == VideoReply::kReady) continue;
      if (reply.kind == VideoReply::kDone) {
        if (failure) break;
        rest.erase(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(taken));
        return reply;
      }
      while (taken < rest.size()) give(rest[taken++]);
      rest.clear();
      taken = 0;
      if (reply.kind == VideoReply::kNeeds) buffer.grow(static_cast<size_t>(reply.width));
      VideoCommand next = message;
      next.kind = VideoCommand::kGoOn;
      next.flags = 0;
      if (reply.kind == VideoReply::kNeedsIndex) {
        if (std::exchange(has_needed, true)) throw VideoRefused(kWrongAnswer);
        next.count = request.saved_indices->load(request.version, buffer);
      } else if (reply.kind == VideoReply::kMadeIndex) {
        const bool has_place =
            reply.width > 0 && static_cast<uint64_t>(reply.width) <= buffer.size();
        if (std::exchange(has_made, true) || !has_place) throw VideoRefused(kWrongAnswer);
        request.saved_indices->store(request.version, buffer, static_cast<size_t>(reply.width));
      }
      next.buffer_bytes = buffer.size();
      send(next, {});
    }
  } catch (const VideoProcessEnded&) {
    while (taken < rest.size()) give(rest[taken++]);  // they are in memory of this process, too
    if (failure) std::rethrow_exception(failure);
    throw;
  } catch (...) {
    stop();  // it writes to the memory, or waits for a word that does not come
    throw;
  }
  if (failure) std::rethrow_exception(failure);
  throw VideoRefused(refusal_);  // it continues with the next request
}

}  // namespace dali_core
