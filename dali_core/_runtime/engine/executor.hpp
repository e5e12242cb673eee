// Runs batches through the stages of a plan with native threads.
//
// A stage is either a sample program, whose items (one a sample) any worker takes, or a step that
// runs in Python on the whole batch; a thread that holds the GIL fetches it by `next_step`. Batches
// overtake each other only between steps: one step sees batches in their order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "batch.hpp"
#include "dali_core/memory.hpp"
#include "sample_program.hpp"

namespace dali_core {

struct Stage {
  std::shared_ptr<const SampleProgram> program;  // null: a step, in Python or on a device
  bool is_source = false;  // whether it is a step that takes data from outside of the pipeline
  bool by_caller = false;  // whether it is a step for the thread that submits and awaits batches
  int node = 0;            // of a step: its slot in `ThreadTimes::operators`
};

// The steps that a thread runs.
enum class StepsFor { kCaller, kOthers, kAll };

struct Plan {
  std::vector<Stage> stages;
  std::vector<int> outputs;  // value ids
  // [output]: other values that become this output, each for other samples, and nothing else.
  std::vector<std::vector<int>> joined_outputs;
  int num_values = 0;
  int num_joined = 0;  // values that come from one of several branches
  int num_readers = 0;
  // How many threads read files before compute threads need them, if any operator reads ahead.
  int num_io_threads = 0;
  // Whether other samples take the place of bad ones; otherwise these end their batch.
  bool replaces_failed = false;
  // Values that go to a device, and where their memory comes from: pinned, it is copied while the
  // host continues. Null if there are none.
  std::vector<int> uploaded;
  std::shared_ptr<BufferPool> upload_pool;
};

struct StepTask {
  std::shared_ptr<Batch> batch;
  int stage = -1;
};

// A plan, and what is derived from it.
class PreparedPlan {
 public:
  explicit PreparedPlan(Plan plan);

  const Plan plan;
  // [value]: its place among the outputs, or -1.
  const std::vector<int> output_of_value;
  // How many slots of `ThreadTimes::operators` it uses.
  const int num_timed;

 private:
  friend class Executor;
  // [output]: what the last batch looked like; no storage. Guarded by the executor's mutex.
  mutable std::vector<DenseOutput> expected_;
};

// Ids of the values that a batch returns.
inline const std::vector<int>& outputs_of(const Batch& batch) { return batch.plan->plan.outputs; }

class Executor {
 public:
  Executor(Plan plan, int num_threads, bool set_affinity);
  // Runs any plans that use at most so many slots of `ThreadTimes::operators`, and do not read
  // ahead.
  Executor(int num_threads, int num_timed);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  std::shared_ptr<Batch> make_batch(int64_t iteration, int size);
  std::shared_ptr<Batch> make_batch(std::shared_ptr<const PreparedPlan> plan, int64_t iteration,
                                    int size);
  // Starts a batch. Batches come in the order of their iterations.
  void submit(const std::shared_ptr<Batch>& batch);

  // Does all of a batch of sample programs in the calling thread instead.
  void run_here(const std::shared_ptr<Batch>& batch);

  // Waits until the batch is done; false after `seconds`, or when no thread works on it any more.
  bool wait(const std::shared_ptr<Batch>& batch, double seconds);

  // The next step to run in Python; no batch after `seconds`, when closed, or when `until` is done.
  StepTask next_step(double seconds, const Batch* until = nullptr, StepsFor who = StepsFor::kAll);
  void finish_step(const StepTask& task);

  // Waits until no step is running; false after `seconds`.
  bool wait_for_steps(double seconds);

  // Samples and bytes that were read ahead and wait for a compute thread.
  int64_t samples_waiting() const { return samples_waiting_; }
  int64_t bytes_waiting() const { return bytes_waiting_; }

  // Drops all batches that are not done, and waits for the items being worked on.
  void cancel();
  // Cancels, and ends the threads. May be called twice.
  void close();
  bool closed();

  // What each thread has done: compute threads first, then those that read ahead, and last what
  // was done outside of them, in steps.
  std::deque<ThreadTimes>& times() { return times_; }
  int num_compute_threads() const { return num_compute_threads_; }
  // Batches that are not done.
  int num_active();

  // Replaces external memory by copies, all in one block.
  void copy_in(std::vector<Tensor>& tensors, BufferPool* pool = nullptr);

  BufferPool& pool() { return *pool_; }
  const Plan& plan() const { return prepared_->plan; }

 private:
  Executor(std::shared_ptr<const PreparedPlan> plan, int num_threads, int num_timed,
           bool set_affinity);
  void expect_outputs(Batch& batch);
  void work(ThreadTimes& times);
  void run_items(std::shared_ptr<Batch> batch, int stage, Worker& worker);
  WaitingFor reason_to_wait() const;
  int most_io_threads() const { return reading_stage_ >= 0 ? plan().num_io_threads : 0; }
  int64_t most_samples_read_ahead(int batch_size) const;
  void start_io_threads(int batch_size);
  void read(ThreadTimes& times);
  void read_one(Batch& batch, int stage, Worker& worker);
  ReadProgress take_read(Batch& batch, int sample, ThreadTimes& times);
  void release_reads(const std::deque<std::shared_ptr<Batch>>& dropped);
  void advance(std::shared_ptr<Batch> batch);
  void finish_outputs(Batch& batch);
  void collect_outputs(Batch& batch);
  std::shared_ptr<Batch> find_items();
  std::shared_ptr<Batch> find_reads();
  StepTask find_step(StepsFor who);
  bool rows_are_read_at_once() const;

  const std::shared_ptr<const PreparedPlan> prepared_;
  // Whether the readers' next sample may take the place of a bad one: all else follows from it.
  const bool reads_replacements_;
  const std::shared_ptr<BufferPool> pool_;
  int num_compute_threads_ = 0;
  std::deque<ThreadTimes> times_;  // [thread]; the last one's are guarded by the mutex

  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable reads_available_;
  std::condition_variable progress_made_;
  std::deque<std::shared_ptr<Batch>> active_;  // not done, in the order of submission
  std::vector<const Batch*> steps_running_;
  int busy_workers_ = 0;  // compute and I/O threads
  int num_cancelling_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;

  // How far I/O threads are ahead. A thread that takes a sample resumes them if they have paused.
  int reading_stage_ = -1;  // the program that reads ahead, if there is one
  std::atomic<int64_t> samples_waiting_{0};
  std::atomic<int64_t> bytes_waiting_{0};
  std::atomic<int64_t> resume_below_{0};
  std::atomic<bool> reads_paused_{false};
};

}  // namespace dali_core
