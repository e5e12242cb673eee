// Reads of objects in remote storage: threads of the executor ask, threads of Python answer.
//
// The asking thread waits without the GIL. Answers belong to the request: if that thread has been
// interrupted, an answer that comes later is dropped with the request.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

namespace dali_core {

class RemoteReads {
 public:
  static constexpr int64_t kWhole = -1;  // as a size: all there is

  struct Bytes {
    std::shared_ptr<const void> owner;  // keeps the memory alive
    const char* data = nullptr;
    int64_t size = 0;

    static Bytes copy_of(const char* data, int64_t size) {
      std::shared_ptr<char[]> memory(new char[static_cast<size_t>(size)]);
      if (size > 0) std::memcpy(memory.get(), data, static_cast<size_t>(size));
      return {memory, memory.get(), size};
    }
  };

  struct Request {
    std::string url;
    int64_t offset = 0, size = kWhole;

    // What was read, after `wait` has returned true.
    const Bytes& bytes() const { return bytes_; }
    bool has(int64_t first, int64_t count) const {
      return first >= offset && count <= bytes_.size && first - offset <= bytes_.size - count;
    }

   private:
    friend class RemoteReads;
    int64_t expected = 0;  // bytes that count against the limit
    bool is_answered = false;
    std::condition_variable answered;  // its own: an answer wakes those who wait for it
    std::string problem;
    Bytes bytes_;
  };

  RemoteReads(int64_t max_bytes, bool joins) : max_bytes_(max_bytes), joins_(joins) {}

  int64_t max_bytes() const { return max_bytes_; }
  bool joins() const { return joins_; }

  // Waits for bytes of an object; by threads of the executor.
  std::shared_ptr<const Request> read(const std::string& url, int64_t offset, int64_t size) {
    auto request = ask(url, offset, size);
    if (!wait(*request)) throw std::runtime_error(request->problem);
    return request;
  }

  // Requests bytes of an object; to `wait` for them is optional.
  std::shared_ptr<Request> ask(const std::string& url, int64_t offset, int64_t size) {
    auto request = std::make_shared<Request>();
    request->url = url;
    request->offset = offset;
    request->size = size;
    std::lock_guard<std::mutex> lock(mutex_);
    request->expected = size == kWhole ? expected_whole_ : size;
    if (is_interrupted_) throw std::runtime_error(kInterrupted);
    waiting_.push_back(request);
    asked_.notify_one();
    open_.insert(request.get());
    return request;
  }

  // Waits until a request is answered; whether there are bytes.
  bool wait(Request& request) {
    std::unique_lock<std::mutex> lock(mutex_);
    request.answered.wait(lock, [&] { return request.is_answered; });
    return request.problem.empty();
  }

  // Takes the next question, unless the answers that are on their way are many bytes; null if
  // reading is interrupted. By threads that answer.
  std::shared_ptr<Request> next() {
    std::unique_lock<std::mutex> lock(mutex_);
    asked_.wait(lock, [&] { return is_interrupted_ || has_room(); });
    if (is_interrupted_) return nullptr;
    const std::shared_ptr<Request> request = waiting_.front();
    waiting_.pop_front();
    bytes_in_flight_ += request->expected;
    if (has_room()) asked_.notify_one();
    return request;
  }

  bool has_waiting() {
    std::lock_guard<std::mutex> lock(mutex_);
    return !is_interrupted_ && has_room();
  }

  void answer(Request& request, Bytes bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (request.size == kWhole) add_to_mean(bytes.size);
    request.bytes_ = std::move(bytes);
    finish(request);
  }

  void fail(Request& request, const std::string& problem) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!request.is_answered) request.problem = problem;
    finish(request);
  }

  // From now on every read fails at once, and `next` gives no requests, until `resume`.
  void interrupt() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_interrupted_ = true;
    for (Request* request : open_) {
      request->problem = kInterrupted;
      request->is_answered = true;
      request->answered.notify_all();
    }
    open_.clear();
    waiting_.clear();
    asked_.notify_all();
  }

  void resume() {
    std::lock_guard<std::mutex> lock(mutex_);
    is_interrupted_ = false;
  }

 private:
  bool has_room() const {
    return !waiting_.empty() &&
           (bytes_in_flight_ == 0 || bytes_in_flight_ <= max_bytes_ - waiting_.front()->expected);
  }

  // A mean over the first objects, and then one in which what was long ago counts less and less.
  void add_to_mean(int64_t size) {
    constexpr int64_t kMost = 64;
    if (num_whole_ < kMost) ++num_whole_;
    expected_whole_ = std::max<int64_t>(1, expected_whole_ + (size - expected_whole_) / num_whole_);
  }

  void finish(Request& request) {
    bytes_in_flight_ -= request.expected;
    request.is_answered = true;
    request.answered.notify_all();
    open_.erase(&request);
    asked_.notify_one();
  }

  static constexpr const char* kInterrupted =
      "reading must not be interrupted (it was, by closing or resetting the pipeline). Run it "
      "again.";

  const int64_t max_bytes_;
  const bool joins_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<std::shared_ptr<Request>> waiting_;
  std::unordered_set<Request*> open_;  // not answered yet
  int64_t bytes_in_flight_ = 0;
  int64_t expected_whole_ = 1 << 20;  // of an object of unknown size: the mean of the last
  int64_t num_whole_ = 0;
  bool is_interrupted_ = true;
};

}  // namespace dali_core
