// Schedules frames on the processes that decode: one whose position is shortly before them
// continues from there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dali_core/native_io/video/video_file.hpp"
#include "dali_core/native_io/video/video_process.hpp"

namespace dali_core {

// Frames of one file that are asked for, and how they should be decoded.
struct VideoTurn {
  VideoProcess* process = nullptr;
  int worker = 0;
  uint64_t file = 0;  // 0 if it is only opened
  uint32_t num_threads = 1;
  bool is_sequential = false;
  bool keeps_between = false;
  int64_t cost = 0;  // frames to decode
  uint64_t ticket = 0;
};

class VideoSchedule {
 public:
  explicit VideoSchedule(int max_workers) : max_workers_(max_workers) {}

  // Chooses the process that has the least to do for these frames, and waits for its turn.
  VideoTurn begin(const VideoFile& file, int64_t first, int64_t last);
  VideoTurn begin_opening(const VideoFile& file);
  // The next one may have the process.
  void end(const VideoTurn& turn);
  // The process has ended. Call this before `end`.
  void forget(const VideoTurn& turn);

 private:
  struct Place {
    int64_t kept_from = 0;  // frames from here on can be had without decoding again
    int64_t next = 0;       // the frame behind the last one that was asked for
    uint32_t num_threads = 1;
  };
  struct Worker {
    std::unique_ptr<VideoProcess> process{new VideoProcess};
    std::unordered_map<uint64_t, Place> open;
    std::list<uint64_t> order;  // of use; the last is the latest
    uint64_t next_ticket = 0;
    uint64_t serving = 0;
    int64_t backlog = 0;  // frames
    bool is_started = false;
  };
  struct Pattern {  // of the requests for one file
    int64_t expected = 0;
    int64_t gap = 0;
    int num_sequential = 0;
    int num_jumps = 0;  // one after another
    int num_waiting = 0;
    int num_shared = 0;
  };

  static int64_t cost_of_opening(const Worker& worker, const VideoFile& file);
  static int64_t cost_of(const Worker& worker, const VideoFile& file, int64_t first);
  Pattern& pattern_of(uint64_t file);
  VideoTurn choose(const VideoFile& file, int64_t first, int64_t last);
  // Sees how the file is read, and notes where the process will stand.
  void follow(const VideoFile& file, int64_t first, int64_t last, Worker& worker, VideoTurn& turn);
  void wait(std::unique_lock<std::mutex>& lock, Worker& worker, VideoTurn& turn);

  const int max_workers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int64_t missed_ = 0;  // what one process more would have saved, in frames
  std::unordered_map<uint64_t, Pattern> patterns_;
};

}  // namespace dali_core
