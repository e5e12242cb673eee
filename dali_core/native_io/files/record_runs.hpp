// Neighbouring records of archives in remote storage: where they are read in their order, one
// request gets many of them, and those that come next are requested ahead.
//
// A run is a constant part of the list of records, of about a megabyte. The first record of a run
// is requested by itself, so that reading in random order requests nothing in vain; with the second
// one the run is requested, and following runs ahead: twice as many with each run that is reached.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dali_core/native_io/files/kept_files.hpp"

namespace dali_core {

class RecordRuns {
 public:
  explicit RecordRuns(const Storage& storage) : reads_(storage.joining_reads()) {}

  // Adds the next record of the list; one without bytes, such as a bad one, is in no run.
  void add(const std::string& path, int64_t file, int64_t start, int64_t end) {
    if (reads_ == nullptr) return;
    const bool has_bytes = start >= 0 && end > start && is_url(path);
    const bool follows = has_bytes && !runs_.empty() && runs_.back().file == file &&
                         start >= runs_.back().end && start - runs_.back().end <= kMaxGap &&
                         end - runs_.back().start <= kRunBytes;
    if (has_bytes && !follows) runs_.push_back({path, file, start, end, 0});
    run_of_.push_back(has_bytes ? static_cast<int64_t>(runs_.size()) - 1 : -1);
    if (!has_bytes) return;
    runs_.back().end = end;
    ++runs_.back().num_records;
  }

  // Loads the run of a record into its file, waiting for it, if it is worth it. Whether it did:
  // after a failure the record is read by itself, so that its own error is reported.
  bool load(size_t record, const OpenFile& file) {
    if (reads_ == nullptr || run_of_[record] < 0) return false;
    const int64_t run = run_of_[record];
    std::shared_ptr<RemoteReads::Request> request;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      request = requested(run);
    }
    if (request == nullptr) return false;
    if (!reads_->wait(*request)) {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = held_.find(run);
      if (found != held_.end() && found->second.request == request) drop(run);
      return false;
    }
    file.lend(std::move(request));
    return true;
  }

 private:
  struct Run {
    std::string path;
    int64_t file, start, end, num_records;
  };
  struct Held {
    std::shared_ptr<RemoteReads::Request> request;
    int64_t num_unread, num_ahead;
    bool is_reached;
    std::list<int64_t>::iterator place;
  };

  int64_t bytes_of(int64_t run) const {
    const Run& found = runs_[static_cast<size_t>(run)];
    return found.end - found.start;
  }

  // With the mutex held: the request of a run, or null to read the record by itself.
  std::shared_ptr<RemoteReads::Request> requested(int64_t run) {
    auto found = held_.find(run);
    if (found == held_.end()) {
      if (std::find(begun_.begin(), begun_.end(), run) == begun_.end()) {
        begun_[next_begun_++ % begun_.size()] = run;
        return nullptr;
      }
      if (bytes_of(run) > max_bytes()) return nullptr;
      while (num_bytes_ + bytes_of(run) > max_bytes()) drop(order_.front());
      found = hold(run, 1);
    }
    order_.splice(order_.end(), order_, found->second.place);
    if (!found->second.is_reached) {
      found->second.is_reached = true;
      request_ahead(run, found->second.num_ahead);
    }
    auto request = found->second.request;
    if (--found->second.num_unread == 0) drop(run);
    return request;
  }

  void request_ahead(int64_t run, int64_t count) {
    const int64_t last = std::min(run + count, static_cast<int64_t>(runs_.size()) - 1);
    for (int64_t next = run + 1; next <= last; ++next) {
      if (held_.count(next) != 0) continue;
      while (num_bytes_ + bytes_of(next) > max_bytes()) {
        const int64_t oldest = order_.front();
        if (oldest >= run && oldest <= last) return;  // what is there is needed before
        drop(oldest);
      }
      hold(next, std::min(2 * count, kMaxAhead));
    }
  }

  std::unordered_map<int64_t, Held>::iterator hold(int64_t run, int64_t num_ahead) {
    const Run& wanted = runs_[static_cast<size_t>(run)];
    auto request = reads_->ask(wanted.path, wanted.start, bytes_of(run));
    num_bytes_ += bytes_of(run);
    const auto place = order_.insert(order_.end(), run);
    return held_.emplace(run, Held{std::move(request), wanted.num_records, num_ahead, false, place})
        .first;
  }

  void drop(int64_t run) {
    const auto found = held_.find(run);
    num_bytes_ -= bytes_of(run);
    order_.erase(found->second.place);
    held_.erase(found);
  }

  int64_t max_bytes() const { return reads_->max_bytes() / 2; }

  static constexpr int64_t kRunBytes = 1 << 20;
  static constexpr int64_t kMaxGap = 64 << 10;
  static constexpr int64_t kMaxAhead = 64;

  const std::shared_ptr<RemoteReads> reads_;
  std::vector<Run> runs_;
  std::vector<int64_t> run_of_;  // of each record
  std::mutex mutex_;
  std::unordered_map<int64_t, Held> held_;
  std::list<int64_t> order_;  // those that were used last are at the end
  int64_t num_bytes_ = 0;     // of those that are held
  // Runs of which one record was read. Few: in random order two of them seldom meet here.
  std::array<int64_t, 4> begun_ = filled();
  size_t next_begun_ = 0;

  static std::array<int64_t, 4> filled() {
    std::array<int64_t, 4> none;
    none.fill(-1);
    return none;
  }
};

}  // namespace dali_core
