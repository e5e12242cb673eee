#include "dali_core/native_io/video/video_session.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/native_io/video/video_bytes.hpp"
#include "dali_core/native_io/video/video_file.hpp"
#include "dali_core/native_io/video/video_process.hpp"
#include "dali_core/native_io/video/video_schedule.hpp"
#include "dali_core/native_io/video/video_settings.hpp"

namespace dali_core {
namespace {

constexpr size_t kMaxFiles = 4096;            // that are known
constexpr int64_t kMaxBytes = 256ll << 20;    // of files that were given as bytes
constexpr int64_t kMaxInMemory = 128;         // files that were given as bytes
constexpr int64_t kPerSecond = 1ll << 20;     // pixels that are decoded in a second at least
constexpr int64_t kBytesPerSecond = 1 << 24;  // that are read in a second at least
constexpr double kMaxSeconds = 1e6;
constexpr size_t kMinBuffer = 1 << 20;

std::mutex settings_mutex;

VideoSettings& settings_of_process() {
  static VideoSettings* settings = new VideoSettings;  // outlives threads at exit
  return *settings;
}

VideoSettings current_settings() {
  const std::lock_guard<std::mutex> lock(settings_mutex);
  return settings_of_process();
}

int count_processors() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

// Helpers stay in the folder that the program was in when they started.
std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::absolute(path, error);
  return error ? path : found.string();
}

[[noreturn]] void refuse(const EncodedVideo& video, const std::string& reason) {
  const std::string what =
      video.path ? "'" + *video.path + "'" : std::to_string(video.size) + " bytes of one";
  if (reason == kNoVideoStream)
    throw std::runtime_error("the file must have a video stream (got " + what + ": " + reason +
                             "). Leave it out.");
  throw std::runtime_error("the file must be a sound video (got " + what + ": " + reason +
                           "). Replace the file, or leave it out.");
}

[[noreturn]] void refuse(const EncodedVideo& video, const VideoProcessEnded& end) {
  if (end.has_timed_out())
    refuse(video, "decoding it takes more processor time than its pixels are worth");
  refuse(video, "the process that decodes it breaks down, with " + end.how());
}

// The other process may have been taken over by a hostile file, so nothing it says is trusted.
bool describe(const SentFrame& frame, const VideoFile& file, const FrameBuffer& buffer,
              FramePlanes& planes) {
  if (frame.orientation < 1 || frame.orientation > 8) return false;
  const bool is_turned = Orientation::from_exif(frame.orientation).transpose;
  planes.width = is_turned ? file.info.height : file.info.width;
  planes.height = is_turned ? file.info.width : file.info.height;
  if (frame.width != planes.width || frame.height != planes.height) return false;
  if (frame.num_planes != 1 && frame.num_planes != 3) return false;
  if (frame.bits < 8 || frame.bits > 16) return false;
  for (const int shift : {frame.chroma_shift_x, frame.chroma_shift_y})
    if (shift < 0 || shift > 2) return false;
  planes.num_planes = frame.num_planes;
  planes.chroma_shift_x = frame.chroma_shift_x;
  planes.chroma_shift_y = frame.chroma_shift_y;
  planes.bits = frame.bits;
  planes.full_range = frame.full_range != 0;
  planes.is_rgb = frame.is_rgb != 0;
  planes.matrix = static_cast<uint8_t>(frame.matrix);
  planes.orientation = frame.orientation;
  planes.seconds = frame.seconds;
  const int64_t size = static_cast<int64_t>(buffer.size());
  for (int i = 0; i < frame.num_planes; ++i) {
    const int shift_x = i == 0 ? 0 : frame.chroma_shift_x;
    const int shift_y = i == 0 ? 0 : frame.chroma_shift_y;
    const int64_t width = (int64_t{frame.width} + (1 << shift_x) - 1) >> shift_x;
    const int64_t height = (int64_t{frame.height} + (1 << shift_y) - 1) >> shift_y;
    const int64_t stride = frame.stride[i], offset = frame.offset[i];
    if (stride < width * (frame.bits > 8 ? 2 : 1) || stride > size) return false;
    if (offset < 0 || offset > size || height > (size - offset) / stride) return false;
    planes.data[i] = buffer.data() + offset;
    planes.stride[i] = stride;
  }
  return true;
}

// Gives frames to a sink, each at all places where it was asked for.
class PlacesOfFrames {
 public:
  PlacesOfFrames(const int64_t* frames, int64_t count) : order_(static_cast<size_t>(count)) {
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int64_t a, int64_t b) { return frames[a] < frames[b]; });
    for (const int64_t place : order_)
      if (wanted_.empty() || wanted_.back() != frames[place]) wanted_.push_back(frames[place]);
    frames_ = frames;
  }

  const std::vector<int64_t>& wanted() const { return wanted_; }
  bool is_done() const { return next_ == order_.size(); }

  // The frames that have not been given yet.
  std::vector<int64_t> rest() const {
    if (is_done()) return {};
    const int64_t first = frames_[order_[next_]];
    return {std::lower_bound(wanted_.begin(), wanted_.end(), first), wanted_.end()};
  }

  // Whether `number` is the frame that comes next.
  bool give(int64_t number, const FramePlanes& planes, FrameSink& sink) {
    const size_t first = next_;
    for (; next_ < order_.size() && frames_[order_[next_]] == number; ++next_)
      sink.take(order_[next_], planes);
    return next_ > first;
  }

 private:
  const int64_t* frames_;
  std::vector<int64_t> order_;
  std::vector<int64_t> wanted_;
  size_t next_ = 0;
};

uint64_t this_thread();

class VideoPool : public VideoSession {
 public:
  VideoPool() : num_processors_(count_processors()), schedule_(num_processors_) {}

  VideoInfo open(const EncodedVideo& video) override { return file_of(video)->info; }

  void forget(const EncodedVideo& video) override {
    const std::string key = key_of(video);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) drop(found);
  }

  // A thread that asked for videos has ended: pipelines close. Bytes that no other thread has asked
  // for are dropped.
  void forget_thread(uint64_t thread) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.erase(thread) == 0) return;
    for (auto known = known_.begin(); known != known_.end();) {
      const auto next = std::next(known);
      std::set<uint64_t>& threads = known->second.threads;
      if (threads.erase(thread) > 0 && threads.empty()) drop(known);
      known = next;
    }
    if (!threads_.empty()) return;
    for (const std::unique_ptr<FrameBuffer>& buffer : idle_) buffer->release_pages();
  }

  void decode(const EncodedVideo& video, const int64_t* frames, int64_t count,
              FrameSink& sink) override {
    if (count == 0) return;
    const std::shared_ptr<const VideoFile> file = file_of(video);
    PlacesOfFrames places(frames, count);
    const std::vector<int64_t>& wanted = places.wanted();
    const int64_t num_frames = file->info.num_frames;
    if (wanted.front() < 0 || wanted.back() >= num_frames)
      throw std::out_of_range("frames must be from 0 to " + std::to_string(num_frames - 1) +
                              " (got " +
                              std::to_string(wanted.front() < 0 ? wanted.front() : wanted.back()) +
                              " of a video with " + std::to_string(num_frames) + ").");
    const VideoSettings settings = current_settings();
    VideoRequest request = request_for(*file, settings);
    request.kind = VideoCommand::kDecode;
    request.frames = wanted;
    const int64_t pixels = int64_t{file->info.width} * file->info.height;
    // Whatever its keyframes are, no more than all frames are decoded, a few times at worst.
    const int64_t decoded = wanted.back() + 1 - file->keyframe_of(wanted.front());
    request.seconds += static_cast<double>(pixels) * static_cast<double>(decoded) / kPerSecond;
    request.seconds = std::min(request.seconds, kMaxSeconds);

    BufferLease lease(*this);
    lease->grow(buffer_size(pixels, static_cast<int64_t>(wanted.size()), settings));
    const auto give = [&](const SentFrame& sent) {
      FramePlanes planes;
      return describe(sent, *file, *lease, planes) && places.give(sent.number, planes, sink);
    };
    for (int attempt = 0;; ++attempt) {
      Turn turn(schedule_, schedule_.begin(*file, wanted.front(), wanted.back()));
      request.num_threads = turn->num_threads;
      request.flags = (turn->is_sequential ? VideoCommand::kSequential : 0u) |
                      (turn->keeps_between ? VideoCommand::kKeepBetween : 0u);
      try {
        std::vector<SentFrame> rest;
        turn->process->call(settings.process, request, *lease, rest, give);
        turn.end();  // others may have the process while this thread looks at the frames
        for (const SentFrame& sent : rest)
          if (!give(sent)) throw VideoRefused(kWrongAnswer);
        if (!places.is_done()) refuse(video, "its last frames cannot be decoded");
        return;
      } catch (const VideoRefused& error) {
        refuse(video, error.what());
      } catch (const VideoProcessEnded& end) {
        turn.forget();
        // The first time it may be the fault of an earlier file.
        if (attempt > 0 || end.has_used_its_time()) refuse(video, end);
        if (places.is_done()) return;
        request.frames = places.rest();
      }
    }
  }

 private:
  // Gives a process back whatever happens.
  class Turn {
   public:
    Turn(VideoSchedule& schedule, const VideoTurn& turn) : schedule_(schedule), turn_(turn) {}
    ~Turn() { end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    const VideoTurn* operator->() const { return &turn_; }
    void forget() { schedule_.forget(turn_); }
    void end() {
      if (!has_ended_) schedule_.end(turn_);
      has_ended_ = true;
    }

   private:
    VideoSchedule& schedule_;
    const VideoTurn turn_;
    bool has_ended_ = false;
  };

  class BufferLease {
   public:
    explicit BufferLease(VideoPool& pool) : pool_(pool) {
      const std::lock_guard<std::mutex> lock(pool.mutex_);
      if (pool.idle_.empty()) {
        buffer_.reset(new FrameBuffer(++pool.num_buffers_));
      } else {
        buffer_ = std::move(pool.idle_.back());
        pool.idle_.pop_back();
      }
    }
    ~BufferLease() {
      const std::lock_guard<std::mutex> lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(buffer_));
    }
    BufferLease(const BufferLease&) = delete;
    BufferLease& operator=(const BufferLease&) = delete;
    FrameBuffer* operator->() const { return buffer_.get(); }
    FrameBuffer& operator*() const { return *buffer_; }

   private:
    VideoPool& pool_;
    std::unique_ptr<FrameBuffer> buffer_;
  };

  struct Known {
    std::shared_ptr<const VideoFile> file;
    std::list<std::string>::iterator place;
    std::set<uint64_t> threads;  // that have asked for bytes; files may be known for longer
  };

  static size_t buffer_size(int64_t pixels, int64_t count, const VideoSettings& settings) {
    // Eight bits a value, with four of chroma for eight of luma, and room for padding.
    const int64_t frame = pixels * 5 / 3 + (1 << 14);
    const int64_t limit = std::max(frame, settings.megabytes << 20);
    return std::max(kMinBuffer, static_cast<size_t>(std::min(frame * count, limit)));
  }

  VideoRequest request_for(const VideoFile& file, const VideoSettings& settings) const {
    if (settings.process.empty())
      throw std::runtime_error(
          "decoding videos needs PyAV (got none, and no FFmpeg at build time). Install it: pip "
          "install av.");
    VideoRequest request;
    request.file = file.id;
    request.path = file.path;
    request.bytes_descriptor = file.bytes_descriptor;
    request.seconds =
        static_cast<double>(settings.seconds) + static_cast<double>(file.size) / kBytesPerSecond;
    request.max_files = static_cast<uint32_t>(settings.files);
    request.codec_bytes = static_cast<uint64_t>(settings.megabytes) << 22;
    return request;
  }

  std::shared_ptr<const VideoFile> file_of(const EncodedVideo& video) {
    const std::string key = key_of(video);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      threads_.insert(this_thread());
      const auto found = known_.find(key);
      if (found != known_.end()) {
        order_.splice(order_.end(), order_, found->second.place);
        return used(found->second);
      }
    }
    std::shared_ptr<VideoFile> file(new VideoFile);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      file->id = ++num_files_;
    }
    file->size = video.size;
    if (video.path) {
      file->path = absolute_path(*video.path);
    } else if (video.descriptor >= 0) {
      file->bytes_descriptor = duplicate(video.descriptor);
    } else {
      file->bytes_descriptor = copy_to_memory(video.bytes, video.size);
      file->owns_bytes = true;
    }
    look_into(video, *file);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end()) return used(found->second);
    order_.push_back(key);
    used(known_[key] = Known{file, std::prev(order_.end()), {}});
    count_bytes(*file, 1);
    while (known_.size() > kMaxFiles || num_in_memory_ > kMaxInMemory ||
           (num_bytes_ > kMaxBytes && known_.size() > 1))
      drop(known_.find(order_.front()));
    return file;
  }

  static std::shared_ptr<const VideoFile> used(Known& known) {
    if (known.file->bytes_descriptor >= 0) known.threads.insert(this_thread());
    return known.file;
  }

  void drop(std::unordered_map<std::string, Known>::iterator known) {
    count_bytes(*known->second.file, -1);
    order_.erase(known->second.place);
    known_.erase(known);
  }

  void count_bytes(const VideoFile& file, int sign) {
    if (file.bytes_descriptor < 0) return;
    num_in_memory_ += sign;
    num_bytes_ += sign * file.size;
  }

  static std::string key_of(const EncodedVideo& video) {
    struct stat status;
    if (video.descriptor >= 0) {
      if (::fstat(video.descriptor, &status) != 0) refuse(video, std::strerror(errno));
      // Nothing else has the number as long as the file is known.
      return "d" + std::to_string(status.st_dev) + '.' + std::to_string(status.st_ino);
    }
    if (!video.path) return "b" + hash_of_video(video.bytes, video.size);
    if (::stat(video.path->c_str(), &status) != 0) refuse(video, std::strerror(errno));
    return "p" + absolute_path(*video.path) + '\0' + std::to_string(status.st_size) + '\0' +
           std::to_string(status.st_mtim.tv_sec) + '.' + std::to_string(status.st_mtim.tv_nsec);
  }

  void look_into(const EncodedVideo& video, VideoFile& file) {
    const VideoSettings settings = current_settings();
    VideoRequest request = request_for(file, settings);
    if (video.path) {
      struct stat status;
      if (::stat(video.path->c_str(), &status) == 0)
        request.seconds += static_cast<double>(status.st_size) / kBytesPerSecond;
    }
    BufferLease lease(*this);
    lease->grow(kMinBuffer);
    for (int attempt = 0;; ++attempt) {
      Turn turn(schedule_, schedule_.begin_opening(file));
      try {
        std::vector<SentFrame> none;
        const VideoReply reply = turn->process->call(settings.process, request, *lease, none, {});
        const int64_t bytes = int64_t{reply.count} * static_cast<int64_t>(sizeof(int32_t));
        if (reply.width < 1 || reply.height < 1 || reply.width * reply.height > (1 << 28) ||
            reply.width > (1 << 28) || reply.height > (1 << 28) || reply.num_frames < 1 ||
            bytes < 0 || bytes > static_cast<int64_t>(lease->size()))
          refuse(video, kWrongAnswer);
        file.info.width = static_cast<int>(reply.width);
        file.info.height = static_cast<int>(reply.height);
        file.info.num_frames = reply.num_frames;
        file.info.frames_per_second = reply.frames_per_second;
        file.keyframes.resize(static_cast<size_t>(reply.count));
        if (bytes > 0) std::memcpy(file.keyframes.data(), lease->data(), bytes);
        return;
      } catch (const VideoRefused& error) {
        refuse(video, error.what());
      } catch (const VideoProcessEnded& end) {
        turn.forget();
        if (attempt > 0 || end.has_used_its_time()) refuse(video, end);
      }
    }
  }

  const int num_processors_;
  VideoSchedule schedule_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<FrameBuffer>> idle_;
  uint64_t num_buffers_ = 0;
  uint64_t num_files_ = 0;
  int64_t num_bytes_ = 0;
  int64_t num_in_memory_ = 0;
  std::unordered_map<std::string, Known> known_;
  std::list<std::string> order_;  // of use; the last is the latest
  std::set<uint64_t> threads_;    // that have asked for videos
};

// Neither is ever destroyed: threads may decode while the program ends, and after a fork the
// other one's locks may be held by threads that do not exist here.
std::atomic<VideoPool*> current_pool{nullptr};
std::atomic<::pid_t> owner_of_pool{0};

// Says when a thread ends.
struct ThreadOfVideos {
  const uint64_t number = [] {
    static std::atomic<uint64_t> count{0};
    return ++count;
  }();

  ~ThreadOfVideos() {
    if (owner_of_pool.load(std::memory_order_acquire) == ::getpid())
      current_pool.load()->forget_thread(number);
  }
};

uint64_t this_thread() {
  static thread_local const ThreadOfVideos thread;
  return thread.number;
}

}  // namespace

void set_up_video(const VideoSettings& settings) {
  const std::lock_guard<std::mutex> lock(settings_mutex);
  settings_of_process() = settings;
}

VideoSession& video_session() {
  static std::mutex* mutex = new std::mutex;
  if (owner_of_pool.load(std::memory_order_acquire) != ::getpid()) {
    const std::lock_guard<std::mutex> lock(*mutex);
    if (owner_of_pool.load() != ::getpid()) {
      current_pool.store(new VideoPool);
      owner_of_pool.store(::getpid(), std::memory_order_release);
    }
  }
  return *current_pool.load();
}

}  // namespace dali_core
