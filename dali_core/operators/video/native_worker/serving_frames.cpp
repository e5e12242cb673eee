#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/helper_process/helper_process.hpp"
#include "dali_core/native_io/video/video_messages.hpp"
#include "dali_core/operators/video/native_worker/container.hpp"
#include "dali_core/operators/video/native_worker/decoder.hpp"
#include "dali_core/operators/video/native_worker/indexing.hpp"
#include "dali_core/operators/video/native_worker/limits.hpp"
#include "dali_core/operators/video/native_worker/planes.hpp"
#include "dali_core/operators/video/native_worker/serving.hpp"

namespace dali_core {
namespace {

constexpr size_t kMaxFrames = 256;       // in one message
constexpr size_t kReadyBytes = 1 << 19;  // of frames that are worth a message of their own
constexpr size_t kMaxText = 2000;
constexpr size_t kMaxIndices = 256;
constexpr size_t kMaxSavedBytes = size_t{1} << 28;  // of an index
constexpr int kParentMilliseconds = 5000;  // between looks whether the other process is there
constexpr int64_t kFramesOfCodec = 8;      // that an open decoder holds on to

// The other process does not want the rest.
struct Stop {};

// A descriptor that is closed in the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }

 private:
  int number_;
};

// Values by number, of which the oldest can be forgotten.
template <class Value>
class Recent {
 public:
  // Makes the value the latest; null if there is none.
  Value* find(uint64_t number) {
    const auto found = places_.find(number);
    if (found == places_.end()) return nullptr;
    values_.splice(values_.end(), values_, found->second);
    return &values_.back().second;
  }
  Value& add(uint64_t number, Value value) {
    erase(number);
    values_.emplace_back(number, std::move(value));
    places_[number] = std::prev(values_.end());
    return values_.back().second;
  }
  void erase(uint64_t number) {
    const auto found = places_.find(number);
    if (found == places_.end()) return;
    values_.erase(found->second);
    places_.erase(found);
  }
  size_t size() const { return values_.size(); }
  uint64_t oldest() const { return values_.front().first; }
  const std::list<std::pair<uint64_t, Value>>& values() const { return values_; }

 private:
  std::list<std::pair<uint64_t, Value>> values_;
  std::map<uint64_t, typename std::list<std::pair<uint64_t, Value>>::iterator> places_;
};

struct SharedBuffer {
  Descriptor descriptor;
  SharedMemory memory;
};

using Index = std::shared_ptr<const PackedIndex>;

class Server {
 public:
  int serve() {
    VideoCommand command;
    std::vector<Descriptor> descriptors;
    try {
      while (receive(command, descriptors)) {
        limit_seconds(command.seconds);
        const std::string refusal = try_to_answer(command, descriptors);
        if (!refusal.empty()) {
          close_file(command.file);
          reply(command, VideoReply::kRefused, {}, refusal.data(),
                std::min(refusal.size(), kMaxText));
        } else if (command.kind == VideoCommand::kDecode) {
          read_ahead(command);
        }
        limit_seconds(0);
      }
    } catch (const Stop&) {
    }
    return 0;
  }

  void reply(const VideoCommand& command, VideoReply::Kind kind, VideoReply numbers,
             const void* body = nullptr, size_t size = 0) {
    numbers.number = command.number;
    numbers.kind = kind;
    iovec parts[2] = {{&numbers, sizeof numbers}, {const_cast<void*>(body), size}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = size > 0 ? 2 : 1;
    while (!send(message)) {
      limit_seconds(0);  // the other process may take its time
      if (!wait(POLLOUT)) throw Stop();
      limit_seconds(command.seconds);
    }
  }

  void reply_frames(const VideoCommand& command, VideoReply::Kind kind, VideoReply numbers,
                    const std::vector<SentFrame>& frames) {
    numbers.count = static_cast<int32_t>(frames.size());
    reply(command, kind, numbers, frames.data(), frames.size() * sizeof(SentFrame));
  }

  // Sends a part, and waits until its memory is free.
  SharedMemory& exchange_part(VideoCommand& command, VideoReply::Kind kind,
                              const VideoReply& numbers, const std::vector<SentFrame>& frames) {
    reply_frames(command, kind, numbers, frames);
    static_cast<void>(receive_word(command));
    return memory_of(command);
  }

  SharedMemory& memory_of(const VideoCommand& command) {
    SharedBuffer& buffer = buffers_.at(command.buffer);
    buffer.memory.map(buffer.descriptor.number(), command.buffer_bytes);
    return buffer.memory;
  }

 private:
  // Waits until the memory may be used again. Returns the count that comes with the word.
  uint64_t receive_word(VideoCommand& command) {
    limit_seconds(0);  // the other process may take its time
    VideoCommand received;
    std::vector<Descriptor> none;
    if (!receive(received, none) || received.kind == VideoCommand::kStop) throw Stop();
    command.buffer_bytes = received.buffer_bytes;
    limit_seconds(command.seconds);
    return received.count;
  }

  // Returns what is wrong with the file, or nothing.
  std::string try_to_answer(VideoCommand& command, std::vector<Descriptor>& descriptors) {
    try {
      answer(command, descriptors);
      return "";
    } catch (const VideoFileError& error) {
      return error.what();
    } catch (const std::bad_alloc&) {
      return "it cannot be decoded: there is not enough memory";
    } catch (const std::exception& error) {
      return "it cannot be decoded: " + std::string(error.what());
    }
  }

  // Returns false if there is no place for the message now.
  static bool send(const msghdr& message) {
    ssize_t count;
    do count = ::sendmsg(kVideoSocket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK) throw Stop();
    return count >= 0;
  }

  // Waits for the socket. Returns false if the other process is gone.
  bool wait(short event) const {
    pollfd waiting{kVideoSocket, event, 0};
    int ready;
    while ((ready = ::poll(&waiting, 1, kParentMilliseconds)) <= 0) {
      if (ready < 0 && errno != EINTR) return false;
      // A fork of the other process may hold its end of the socket open.
      if (::getppid() != parent_) return false;
    }
    return true;
  }

  // Decodes what is likely to be asked for next, until there is another request.
  void read_ahead(const VideoCommand& command) {
    std::unique_ptr<Decoder>* decoder = decoders_.find(command.file);
    if (decoder == nullptr || !(*decoder)->may_read_ahead()) return;
    limit_ahead_seconds(command.seconds);
    pollfd waiting{kVideoSocket, POLLIN, 0};
    try {
      while (::poll(&waiting, 1, 0) == 0 && (*decoder)->read_ahead()) {
      }
    } catch (const std::exception&) {
      // The next request opens a new decoder, and reports the error if it needs these frames.
      decoders_.erase(command.file);
    }
    limit_ahead_seconds(0);
  }

  bool receive(VideoCommand& command, std::vector<Descriptor>& descriptors) {
    if (!wait(POLLIN)) return false;
    iovec part{&command, sizeof command};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t count;
    do count = ::recvmsg(kVideoSocket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count != sizeof command) return false;
    descriptors.clear();
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
      const size_t size = header->cmsg_len - CMSG_LEN(0);
      for (size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
        int number;
        std::memcpy(&number, CMSG_DATA(header) + at, sizeof number);
        descriptors.emplace_back(number);
      }
    }
    return true;
  }

  void answer(VideoCommand& command, std::vector<Descriptor>& descriptors) {
    size_t taken = 0;
    if (command.flags & VideoCommand::kNewBuffer) {
      buffers_.erase(command.buffer);
      buffers_[command.buffer].descriptor = std::move(descriptors.at(taken++));
    }
    if (command.flags & VideoCommand::kHasBytes)
      sources_.try_emplace(command.file, std::move(descriptors.at(taken++)));
    const SharedMemory& memory = memory_of(command);
    std::string path(reinterpret_cast<const char*>(memory.data()), command.path_bytes);
    const auto source = sources_.find(command.file);
    if (source != sources_.end()) path = "/proc/self/fd/" + std::to_string(source->second.number());
    const size_t start = (command.path_bytes + 7) / 8 * 8;
    std::vector<int64_t> wanted(command.count);
    if (!wanted.empty()) std::memcpy(wanted.data(), memory.data() + start, 8 * command.count);
    // From here on, the memory may have something else.
    const Index index = index_of(command, path);
    if (command.kind == VideoCommand::kOpen) {
      describe(command, *index, memory_of(command));
      return;
    }
    decode(command, index, path, wanted);
  }

  void close_file(uint64_t file) {
    decoders_.erase(file);
    indices_.erase(file);
    sources_.erase(file);
  }

  Index index_of(VideoCommand& command, const std::string& path) {
    const uint64_t file = command.file;
    if (const Index* known = indices_.find(file)) return *known;
    const bool is_saved =
        (command.flags & VideoCommand::kHasIndices) != 0 && sources_.count(file) == 0;
    std::optional<PackedIndex> found;
    if (is_saved) found = saved_index(command);
    if (!found) {
      found = build_index(path);
      if (is_saved) save(command, *found);
    }
    const Index index = std::make_shared<const PackedIndex>(*std::move(found));
    indices_.add(file, index);
    while (indices_.size() > kMaxIndices) close_file(indices_.oldest());
    return index;
  }

  std::optional<PackedIndex> saved_index(VideoCommand& command) {
    reply(command, VideoReply::kNeedsIndex, {});
    const uint64_t size = receive_word(command);
    const SharedMemory& memory = memory_of(command);
    if (size > memory.size()) return std::nullopt;
    return PackedIndex::from_bytes(memory.data(), size);
  }

  void save(VideoCommand& command, const PackedIndex& index) {
    const std::string bytes = index.to_bytes();
    VideoReply numbers;
    numbers.width = static_cast<int64_t>(bytes.size());
    if (bytes.size() > kMaxSavedBytes) return;
    if (bytes.size() > memory_of(command).size()) {
      reply(command, VideoReply::kNeeds, numbers);
      receive_word(command);
    }
    const SharedMemory& memory = memory_of(command);
    if (bytes.size() > memory.size()) throw std::bad_alloc();
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    reply(command, VideoReply::kMadeIndex, numbers);
    receive_word(command);
  }

  void describe(const VideoCommand& command, const PackedIndex& index, const SharedMemory& memory) {
    const bool is_turned = index.orientation >= 5;
    const size_t last = index.pts.size() - 1;
    // Times of a hostile file may be far apart.
    const __int128 ticks = (__int128{index.pts[last]} - index.pts[0]) * index.time_base_num;
    const size_t count = std::min(index.keyframes.size(), memory.size() / sizeof(int32_t));
    std::memcpy(memory.data(), index.keyframes.data(), count * sizeof(int32_t));
    VideoReply numbers;
    numbers.count = static_cast<int32_t>(count);
    numbers.width = is_turned ? index.coded_height : index.coded_width;
    numbers.height = is_turned ? index.coded_width : index.coded_height;
    numbers.num_frames = static_cast<int64_t>(last) + 1;
    if (ticks > 0)
      numbers.frames_per_second =
          static_cast<double>(__int128{static_cast<int64_t>(last)} * index.time_base_den) /
          static_cast<double>(ticks);
    reply(command, VideoReply::kDone, numbers);
  }

  Decoder& decoder_of(const VideoCommand& command, const Index& index, const std::string& path) {
    const int num_threads = static_cast<int>(command.num_threads);
    std::unique_ptr<Decoder>* known = decoders_.find(command.file);
    if (known == nullptr || (*known)->num_threads() != num_threads) {
      decoders_.erase(command.file);
      known = &decoders_.add(command.file, std::make_unique<Decoder>(path, index, num_threads));
    }
    while (decoders_.size() > 1 && (decoders_.size() > command.max_files ||
                                    decoder_bytes() > static_cast<double>(command.codec_bytes)))
      decoders_.erase(decoders_.oldest());
    return **known;
  }

  // That all open decoders hold on to, roughly.
  double decoder_bytes() const {
    double sum = 0;
    for (const auto& [file, decoder] : decoders_.values()) {
      const PackedIndex& index = decoder->index();
      sum += 2.0 * static_cast<double>(index.coded_width * index.coded_height) *
             (static_cast<double>(kFramesOfCodec + decoder->num_threads()) +
              static_cast<double>(decoder->num_waiting()));
    }
    return sum;
  }

  void decode(VideoCommand& command, const Index& index, const std::string& path,
              const std::vector<int64_t>& wanted);

  const ::pid_t parent_ = ::getppid();
  std::map<uint64_t, SharedBuffer> buffers_;
  std::map<uint64_t, Descriptor> sources_;  // of the bytes of files
  Recent<Index> indices_;
  Recent<std::unique_ptr<Decoder>> decoders_;
};

// Copies frames to the shared memory, and reports them to the client in parts.
class Sender {
 public:
  Sender(Server& server, VideoCommand& command, const PackedIndex& index, size_t num_left)
      : server_(server),
        command_(command),
        index_(index),
        memory_(&server.memory_of(command)),
        num_left_(num_left) {}

  void take(int64_t number, const AVFrame& frame) {
    if (frame.width != index_.coded_width || frame.height != index_.coded_height)
      throw VideoFileError("its frame " + std::to_string(number) + " has " +
                           std::to_string(frame.width) + " x " + std::to_string(frame.height) +
                           " pixels, and the first one " + std::to_string(index_.coded_width) +
                           " x " + std::to_string(index_.coded_height));
    const PlaneLayout layout(frame);
    if (at_ > 0 && (frames_.size() == kMaxFrames || !has_place(layout)))
      exchange(VideoReply::kPart, {});
    if (!has_place(layout)) {
      VideoReply numbers;
      numbers.width = static_cast<int64_t>(layout.size());
      exchange(VideoReply::kNeeds, numbers);
      if (!has_place(layout)) throw std::bad_alloc();
    }
    SentFrame sent{};
    sent.number = number;
    // In this order, so that the result is the nearest number to the exact time.
    const __int128 ticks = __int128{index_.pts[static_cast<size_t>(number)]} - index_.pts[0];
    sent.seconds = static_cast<double>(ticks * index_.time_base_num) /
                   static_cast<double>(index_.time_base_den);
    sent.orientation = static_cast<int32_t>(index_.orientation);
    layout.copy(frame, memory_->data(), at_, sent);
    frames_.push_back(sent);
    if (--num_left_ > 0 && at_ - sent_ >= kReadyBytes) {
      server_.reply_frames(command_, VideoReply::kReady, {}, frames_);
      frames_.clear();
      sent_ = at_;
    }
  }

  void finish() { server_.reply_frames(command_, VideoReply::kDone, {}, frames_); }

 private:
  bool has_place(const PlaneLayout& layout) const { return layout.size() <= memory_->size() - at_; }

  void exchange(VideoReply::Kind kind, const VideoReply& numbers) {
    memory_ = &server_.exchange_part(command_, kind, numbers, frames_);
    at_ = sent_ = 0;
    frames_.clear();
  }

  Server& server_;
  VideoCommand& command_;
  const PackedIndex& index_;
  SharedMemory* memory_;
  size_t at_ = 0;
  size_t sent_ = 0;  // what comes before this in the memory has been reported
  size_t num_left_;
  std::vector<SentFrame> frames_;
};

void Server::decode(VideoCommand& command, const Index& index, const std::string& path,
                    const std::vector<int64_t>& wanted) {
  const auto num_frames = static_cast<int64_t>(index->pts.size());
  if (wanted.empty() || wanted.front() < 0 || wanted.back() >= num_frames) {
    const auto most = std::max_element(wanted.begin(), wanted.end());
    throw VideoFileError("it has " + std::to_string(num_frames) + " frames, and frame " +
                         std::to_string(most == wanted.end() ? 0 : *most) + " was asked for");
  }
  Decoder& decoder = decoder_of(command, index, path);
  Sender sender(*this, command, *index, wanted.size());
  decoder.frames(
      wanted, [&](int64_t number, const AVFrame& frame) { sender.take(number, frame); },
      (command.flags & VideoCommand::kSequential) != 0,
      (command.flags & VideoCommand::kKeepBetween) != 0);
  sender.finish();
}

}  // namespace

int serve_frames() {
  prepare_limits();
  return Server().serve();
}

}  // namespace dali_core
