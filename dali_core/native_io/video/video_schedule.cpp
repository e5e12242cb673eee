#include "dali_core/native_io/video/video_schedule.hpp"

#include <algorithm>

namespace dali_core {
namespace {

// In frames, roughly.
constexpr int64_t kCostOfOpening = 12;
constexpr int64_t kCostOfStarting = 100;
constexpr size_t kOpenFiles = 8;  // that a process is thought to have open
constexpr size_t kMaxPatterns = 4096;
constexpr int64_t kNear = 64;      // frames that a sequential reader may leave out
constexpr int kSureOfThreads = 6;  // requests in order, so that random clips are not taken for it

}  // namespace

VideoSchedule::Pattern& VideoSchedule::pattern_of(uint64_t file) {
  if (patterns_.size() >= kMaxPatterns)
    for (auto it = patterns_.begin(); it != patterns_.end();)
      it = it->second.num_waiting == 0 ? patterns_.erase(it) : std::next(it);
  return patterns_[file];
}

int64_t VideoSchedule::cost_of_opening(const Worker& worker, const VideoFile& file) {
  return worker.open.count(file.id) != 0 ? 0 : kCostOfOpening;
}

int64_t VideoSchedule::cost_of(const Worker& worker, const VideoFile& file, int64_t first) {
  const int64_t from_keyframe = first - file.keyframe_of(first);
  const auto found = worker.open.find(file.id);
  if (found == worker.open.end()) return from_keyframe;
  const Place& place = found->second;
  if (first >= place.kept_from && first < place.next) return 0;
  if (first >= place.next) return std::min(from_keyframe, first - place.next);
  return from_keyframe;
}

VideoTurn VideoSchedule::begin(const VideoFile& file, int64_t first, int64_t last) {
  std::unique_lock<std::mutex> lock(mutex_);
  VideoTurn turn = choose(file, first, last);
  Worker& worker = *workers_[turn.worker];
  follow(file, first, last, worker, turn);
  wait(lock, worker, turn);
  return turn;
}

VideoTurn VideoSchedule::begin_opening(const VideoFile& file) {
  std::unique_lock<std::mutex> lock(mutex_);
  VideoTurn turn = choose(file, 0, 0);
  wait(lock, *workers_[turn.worker], turn);
  return turn;
}

VideoTurn VideoSchedule::choose(const VideoFile& file, int64_t first, int64_t last) {
  VideoTurn turn;
  int64_t best = INT64_MAX;
  int stopped = -1;
  bool all_busy = true;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = *workers_[i];
    if (!worker.is_started) {
      stopped = static_cast<int>(i);
      continue;
    }
    all_busy = all_busy && worker.next_ticket != worker.serving;
    // Both count: when it is done, and what is computed for it. Half of the backlog is done
    // already.
    const int64_t score = worker.backlog + 2 * cost_of(worker, file, first);
    if (score >= best) continue;
    best = score;
    turn.worker = static_cast<int>(i);
  }
  if (all_busy && (stopped >= 0 || static_cast<int>(workers_.size()) < max_workers_)) {
    // A process more, once it would have saved what it costs to start it.
    const int64_t from_keyframe = first - file.keyframe_of(first);
    if (best < INT64_MAX)
      missed_ += std::max<int64_t>(0, best - kCostOfOpening - 2 * from_keyframe);
    if (best == INT64_MAX || missed_ >= 2 * kCostOfStarting) {
      if (stopped < 0) {
        stopped = static_cast<int>(workers_.size());
        workers_.emplace_back(new Worker);
      }
      turn.worker = stopped;
      missed_ = 0;
    }
  }
  Worker& chosen = *workers_[turn.worker];
  turn.cost = cost_of_opening(chosen, file) + cost_of(chosen, file, first) + last + 1 - first;
  turn.process = chosen.process.get();
  return turn;
}

void VideoSchedule::follow(const VideoFile& file, int64_t first, int64_t last, Worker& worker,
                           VideoTurn& turn) {
  const int64_t length = last + 1 - first;
  turn.file = file.id;
  Pattern& pattern = pattern_of(file.id);
  const int64_t gap = first - pattern.expected;
  const bool is_near = gap >= 0 && gap <= kNear + length;
  const bool is_behind = gap < 0 && -gap <= 2 * length;
  pattern.num_sequential = is_near || is_behind ? pattern.num_sequential + 1 : 0;
  turn.is_sequential = pattern.num_sequential > 0;
  turn.keeps_between =
      turn.is_sequential && gap > 0 && gap != pattern.gap && pattern.num_waiting > 0;
  if (!turn.is_sequential)
    pattern.num_shared = 0;
  else if (pattern.num_waiting > 0)
    ++pattern.num_shared;
  if (is_near) pattern.gap = gap;
  if (!is_behind) pattern.expected = last + 1;
  ++pattern.num_waiting;

  const auto found = worker.open.find(file.id);
  Place& place = worker.open[file.id];
  if (found == worker.open.end()) {
    worker.order.push_back(file.id);
    while (worker.order.size() > kOpenFiles) {
      worker.open.erase(worker.order.front());
      worker.order.pop_front();
    }
  } else {
    worker.order.remove(file.id);
    worker.order.push_back(file.id);
  }
  // One jump may be the start of an epoch.
  pattern.num_jumps = turn.is_sequential ? 0 : pattern.num_jumps + 1;
  if (pattern.num_jumps > 1)
    place.num_threads = 1;
  else if (pattern.num_shared >= kSureOfThreads)
    place.num_threads = static_cast<uint32_t>(max_workers_);
  turn.num_threads = place.num_threads;
  if (first >= place.kept_from && first < place.next) {
    place.next = std::max(place.next, last + 1);
  } else {
    place.kept_from = turn.keeps_between && first >= place.next ? place.next : last + 1;
    place.next = last + 1;
  }
}

void VideoSchedule::wait(std::unique_lock<std::mutex>& lock, Worker& worker, VideoTurn& turn) {
  worker.is_started = true;
  worker.backlog += turn.cost;
  turn.ticket = worker.next_ticket++;
  changed_.wait(lock, [&] { return worker.serving == turn.ticket; });
}

void VideoSchedule::end(const VideoTurn& turn) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Worker& worker = *workers_[turn.worker];
    worker.backlog -= turn.cost;
    ++worker.serving;
    if (turn.file != 0) --pattern_of(turn.file).num_waiting;
  }
  changed_.notify_all();
}

void VideoSchedule::forget(const VideoTurn& turn) {
  const std::lock_guard<std::mutex> lock(mutex_);
  workers_[turn.worker]->is_started = false;
  workers_[turn.worker]->open.clear();
  workers_[turn.worker]->order.clear();
}

}  // namespace dali_core
