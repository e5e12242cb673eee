#include "executor.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "tensor_list.hpp"

namespace dali_core {

namespace {

// Above any batch size, with room for every worker to count on.
constexpr int kNoItemsLeft = 1 << 30;

std::chrono::steady_clock::time_point deadline_after(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

// Nanoseconds of processor time that the calling thread has had.
int64_t processor_nanoseconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return int64_t{1'000'000'000} * used.tv_sec + used.tv_nsec;
}

// Binds thread number `index` to one of the processors that this process may use.
void bind_to_processor(std::thread& thread, int index) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int wanted = index % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
    return;
  }
#else
  (void)thread;
  (void)index;
#endif
}

std::vector<int> find_outputs(const Plan& plan) {
  std::vector<int> found(static_cast<size_t>(plan.num_values), -1);
  for (size_t i = 0; i < plan.outputs.size(); ++i) found[plan.outputs[i]] = static_cast<int>(i);
  for (size_t i = 0; i < plan.joined_outputs.size(); ++i)
    for (int value : plan.joined_outputs[i]) found[value] = static_cast<int>(i);
  return found;
}

int count_timed(const Plan& plan) {
  int count = 1;
  for (const Stage& stage : plan.stages)
    count = std::max(count, stage.program ? stage.program->num_timed() : stage.node + 1);
  return count;
}

}  // namespace

PreparedPlan::PreparedPlan(Plan described)
    : plan(std::move(described)),
      output_of_value(find_outputs(plan)),
      num_timed(count_timed(plan)),
      expected_(plan.outputs.size()) {}

Executor::Executor(Plan plan, int num_threads, bool set_affinity)
    : Executor(std::make_shared<const PreparedPlan>(std::move(plan)), num_threads, 1,
               set_affinity) {}

Executor::Executor(int num_threads, int num_timed)
    : Executor(std::make_shared<const PreparedPlan>(Plan{}), num_threads, num_timed, false) {}

Executor::Executor(std::shared_ptr<const PreparedPlan> plan, int num_threads, int num_timed,
                   bool set_affinity)
    : prepared_(std::move(plan)),
      reads_replacements_(prepared_->plan.replaces_failed && rows_are_read_at_once()),
      pool_(BufferPool::create()) {
  const std::vector<Stage>& stages = prepared_->plan.stages;
  for (size_t i = 0; i < stages.size() && prepared_->plan.num_io_threads > 0; ++i) {
    const auto& program = stages[i].program;
    if (program && program->batches_ahead() > 0) reading_stage_ = static_cast<int>(i);
  }
  num_compute_threads_ = num_threads;
  num_timed = std::max(num_timed, prepared_->num_timed);
  for (int i = 0; i < num_threads + most_io_threads() + 1; ++i)
    times_.emplace_back(static_cast<size_t>(num_timed));
  try {
    for (int i = 0; i < num_threads; ++i) {
      threads_.emplace_back([this, &times = times_[i]] { work(times); });
      if (set_affinity) bind_to_processor(threads_.back(), i);
    }
  } catch (const std::system_error& error) {
    const std::string started = std::to_string(threads_.size());
    close();
    throw std::runtime_error("num_threads must be a number of threads that can start (got " +
                             std::to_string(num_threads) + "; after " + started + ": " +
                             error.what() + "). Use fewer, or raise the system's limit.");
  } catch (...) {
    close();
    throw;
  }
}

Executor::~Executor() { close(); }

// Whether the first stage has all that makes one sample another than the next.
bool Executor::rows_are_read_at_once() const {
  for (size_t i = 0; i < plan().stages.size(); ++i) {
    const Stage& stage = plan().stages[i];
    if (stage.is_source || (i > 0 && stage.program && stage.program->reads())) return false;
  }
  return true;
}

std::shared_ptr<Batch> Executor::make_batch(int64_t iteration, int size) {
  return make_batch(prepared_, iteration, size);
}

std::shared_ptr<Batch> Executor::make_batch(std::shared_ptr<const PreparedPlan> prepared,
                                            int64_t iteration, int size) {
  const Plan& plan = prepared->plan;
  require_host_memory(static_cast<size_t>(size) * static_cast<size_t>(plan.num_values + 1) *
                      sizeof(Tensor));
  auto batch = std::make_shared<Batch>(iteration, size, plan.num_values, plan.num_readers,
                                       static_cast<int>(plan.stages.size()),
                                       static_cast<int>(plan.outputs.size()));
  batch->output_of_value = prepared->output_of_value;
  if (plan.upload_pool) {
    batch->pools.resize(plan.num_values);
    for (int value : plan.uploaded) batch->pools[value] = plan.upload_pool.get();
  }
  batch->replaces_failed = plan.replaces_failed;
  batch->kinds.assign(plan.num_joined, std::vector<TensorKind>(size));
  batch->plan = std::move(prepared);
  return batch;
}

// When the last batch was uniform, this one probably is: let it be written in place.
void Executor::expect_outputs(Batch& batch) {
  std::vector<DenseOutput> expected;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    expected = batch.plan->expected_;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].type == DataType::kNone || batch.size() == 0) continue;
    try {
      expected[i].storage = pool_->allocate(
          static_cast<size_t>(checked_product(expected[i].sample_bytes, batch.size())));
    } catch (const std::exception&) {
      continue;  // If samples by themselves do not fit either, they say so.
    }
    batch.dense[i] = std::move(expected[i]);
  }
}

void Executor::submit(const std::shared_ptr<Batch>& batch) {
  expect_outputs(*batch);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closing_) return;
    active_.push_back(batch);
  }
  advance(batch);
}

void Executor::run_here(const std::shared_ptr<Batch>& batch) {
  expect_outputs(*batch);
  ThreadTimes times(static_cast<size_t>(batch->plan->num_timed));
  Worker worker(*pool_, times);
  for (const Stage& stage : batch->plan->plan.stages) {
    for (int sample = 0; sample < batch->size(); ++sample)
      stage.program->run(*batch, sample, worker);
    stage.program->check_joined(*batch);
    if (batch->failed()) break;
  }
  if (!batch->failed()) finish_outputs(*batch);
  std::lock_guard<std::mutex> lock(mutex_);
  batch->done = true;
  batch->done_at = nanoseconds_now();
}

// Moves a batch whose current stage is complete to the next one that has something to do. The
// caller's reference is released before the consumer is notified: so the batch's memory returns to
// the pool when the consumer releases the batch, and the next batch uses it while it is cached.
void Executor::advance(std::shared_ptr<Batch> batch) {
  const std::vector<Stage>& stages = batch->plan->plan.stages;
  const int num_stages = static_cast<int>(stages.size());
  if (batch->stage >= 0 && stages[batch->stage].program)
    stages[batch->stage].program->check_joined(*batch);
  if (batch->replaces_failed) batch->replace_failed();
  int next = batch->failed() ? num_stages : batch->stage + 1;
  while (next < num_stages && stages[next].program && batch->size() == 0) ++next;
  if (next == num_stages && !batch->failed()) finish_outputs(*batch);
  if (next == reading_stage_) batch->reads = std::make_unique<SampleReads>(batch->size());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (next < num_stages) batch->progress[next].remaining = batch->size();
    if (next == reading_stage_) start_io_threads(batch->size());
    batch->stage = next;
    if (next == num_stages) {
      batch->done = true;
      batch->done_at = nanoseconds_now();
      active_.erase(std::remove(active_.begin(), active_.end(), batch), active_.end());
    }
  }
  batch.reset();
  work_available_.notify_all();
  if (next == reading_stage_) reads_available_.notify_all();
  progress_made_.notify_all();
}

// Called with the mutex held: the oldest batch that has samples to take.
std::shared_ptr<Batch> Executor::find_items() {
  for (const auto& batch : active_) {
    const int stage = batch->stage;
    if (stage < 0 || !batch->plan->plan.stages[stage].program) continue;
    if (batch->progress[stage].next.load(std::memory_order_relaxed) < batch->size()) return batch;
  }
  return nullptr;
}

// Called with the mutex held by a thread that finds no items.
WaitingFor Executor::reason_to_wait() const {
  if (active_.empty()) return WaitingFor::kConsumer;
  for (const auto& batch : active_)
    if (batch->stage >= 0 && !batch->plan->plan.stages[batch->stage].program)
      return WaitingFor::kSteps;
  return WaitingFor::kOthers;
}

int Executor::num_active() {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(active_.size());
}

void Executor::work(ThreadTimes& times) {
  Worker worker(*pool_, times);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    std::shared_ptr<Batch> batch;
    while (!closing_ && !(batch = find_items())) {
      times.begin_wait(reason_to_wait());
      work_available_.wait(lock);
      times.end_wait();
    }
    if (closing_) return;
    const int stage = batch->stage;
    ++busy_workers_;
    lock.unlock();
    run_items(std::move(batch), stage, worker);
    lock.lock();
    --busy_workers_;
    progress_made_.notify_all();
  }
}

void Executor::run_items(std::shared_ptr<Batch> batch, int stage, Worker& worker) {
  StageProgress& progress = batch->progress[stage];
  const SampleProgram& program = *batch->plan->plan.stages[stage].program;
  const int size = batch->size();
  worker.times.begin_lap();
  for (int sample; (sample = progress.next.fetch_add(1)) < size;) {
    ReadProgress read;
    if (stage == reading_stage_) read = take_read(*batch, sample, worker.times);
    if (!batch->is_copy(sample))
      program.run(*batch, sample, worker, read, reads_replacements_ && stage == 0);
    if (progress.remaining.fetch_sub(1) == 1) return advance(std::move(batch));
  }
}

// A failure is recorded in the batch: nothing may be thrown through a thread.
void Executor::finish_outputs(Batch& batch) {
  try {
    collect_outputs(batch);
  } catch (const std::exception& error) {
    batch.fail({-1, -1, failure_message(error), "", false, failure_kind(error)});
  }
}

namespace {

// Files may hold what they like. Of samples that failed nothing is known.
void check_one_kind(const std::vector<Tensor>& samples, size_t output) {
  const Tensor* first = nullptr;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Tensor& sample = samples[i];
    if (sample.type == DataType::kNone) continue;
    if (first == nullptr) first = &sample;
    if (sample.type == first->type && sample.shape.ndim == first->shape.ndim) continue;
    throw std::runtime_error(
        "all samples of a batch must have one type and number of dimensions (got " +
        std::string(name_of(first->type)) + " of shape " + to_string(first->shape) + " and, for " +
        "sample " + std::to_string(i) + " of output " + std::to_string(output) + ", " +
        name_of(sample.type) + " of shape " + to_string(sample.shape) +
        "). Cast or reshape them in the pipeline.");
  }
}

}  // namespace

// Uniform outputs become one dense buffer: nothing to do where samples were written in place.
void Executor::collect_outputs(Batch& batch) {
  const int size = batch.size();
  const std::vector<int>& outputs = batch.plan->plan.outputs;
  std::vector<DenseOutput> seen(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<Tensor>& samples = batch.values[outputs[i]];
    DenseOutput& dense = batch.dense[i];
    if (size == 0) continue;
    const Tensor& first = samples[0];
    if (std::any_of(samples.begin(), samples.end(),
                    [](const Tensor& sample) { return sample.device != kHost; })) {
      dense = DenseOutput{};
      batch.contiguous[i] = are_contiguous(samples);
      continue;
    }
    const bool uniform = std::all_of(samples.begin(), samples.end(), [&](const Tensor& sample) {
      return sample.type == first.type && sample.shape == first.shape;
    });
    if (!uniform) {
      check_one_kind(samples, i);
      dense = DenseOutput{};
      continue;
    }
    seen[i].type = first.type;
    seen[i].shape = first.shape;
    seen[i].layout = first.layout;
    seen[i].sample_bytes = first.num_bytes();
    const bool in_place = dense.storage && dense.type == first.type && dense.shape == first.shape;
    if (!in_place) {
      dense = seen[i];
      dense.storage =
          pool_->allocate(static_cast<size_t>(checked_product(dense.sample_bytes, size)));
    }
    for (int s = 0; s < size; ++s) {
      const OutputSlot slot = dense.slot(s);
      if (samples[s].data == slot.data) continue;
      std::memcpy(slot.data, samples[s].data, static_cast<size_t>(dense.sample_bytes));
      samples[s].storage = dense.storage;
      samples[s].data = slot.data;
    }
    batch.contiguous[i] = true;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  // Samples that are not joined yet may be many more than rows.
  if (batch.is_joined()) seen.assign(seen.size(), DenseOutput{});
  batch.plan->expected_ = std::move(seen);
}

bool Executor::wait(const std::shared_ptr<Batch>& batch, double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  progress_made_.wait_until(lock, deadline_after(seconds),
                            [&] { return batch->done || batch->cancelled || closing_; });
  return batch->done;
}

void Executor::copy_in(std::vector<Tensor>& tensors, BufferPool* pool) {
  const auto aligned = [](int64_t bytes) {
    const auto alignment = static_cast<int64_t>(kAlignment);
    return (bytes + alignment - 1) / alignment * alignment;
  };
  int64_t total = 0;
  for (const Tensor& tensor : tensors) total = checked_sum(total, aligned(tensor.num_bytes()));
  const std::shared_ptr<void> block =
      (pool ? pool : pool_.get())->allocate(static_cast<size_t>(total));
  char* position = static_cast<char*>(block.get());
  for (Tensor& tensor : tensors) {
    const int64_t bytes = tensor.num_bytes();
    if (bytes) std::memcpy(position, tensor.data, static_cast<size_t>(bytes));
    tensor.storage = block;
    tensor.data = position;
    position += aligned(bytes);
  }
}

// Called with the mutex held: the oldest batch that waits for a step which all batches before it
// have passed.
StepTask Executor::find_step(StepsFor who) {
  const auto is_wanted = [&](const Stage& stage) {
    return !stage.program &&
           (who == StepsFor::kAll || stage.by_caller == (who == StepsFor::kCaller));
  };
  int passed = static_cast<int>(plan().stages.size());
  for (const auto& batch : active_) {
    const int stage = batch->stage;
    const bool taken = std::find(steps_running_.begin(), steps_running_.end(), batch.get()) !=
                       steps_running_.end();
    if (stage >= 0 && stage < passed && is_wanted(plan().stages[stage]) && !taken)
      return {batch, stage};
    passed = std::min(passed, stage);
  }
  return {};
}

StepTask Executor::next_step(double seconds, const Batch* until, StepsFor who) {
  std::unique_lock<std::mutex> lock(mutex_);
  StepTask task;
  progress_made_.wait_until(lock, deadline_after(seconds), [&] {
    if (closing_ || (until && until->done)) return true;
    task = find_step(who);
    return task.batch != nullptr;
  });
  if (closing_) return {};
  if (!task.batch) return task;
  steps_running_.push_back(task.batch.get());
  task.batch->step_began = nanoseconds_now();
  task.batch->step_processor_began = processor_nanoseconds();
  return task;
}

void Executor::finish_step(const StepTask& task) {
  bool cancelled;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const int node = plan().stages[task.stage].node;
    // An interrupted step is finished by another thread.
    const int64_t processor =
        std::max<int64_t>(0, processor_nanoseconds() - task.batch->step_processor_began);
    times_.back().add_step(node, task.batch->step_began, task.batch->iteration, task.batch->size(),
                           processor);
    steps_running_.erase(
        std::remove(steps_running_.begin(), steps_running_.end(), task.batch.get()),
        steps_running_.end());
    cancelled = task.batch->cancelled;
  }
  if (!cancelled) advance(task.batch);
  progress_made_.notify_all();
}

void Executor::cancel() {
  std::deque<std::shared_ptr<Batch>> dropped;  // freed outside the lock
  std::unique_lock<std::mutex> lock(mutex_);
  for (const auto& batch : active_) {
    batch->cancelled = true;
    for (StageProgress& progress : batch->progress) progress.next = kNoItemsLeft;
  }
  dropped.swap(active_);
  progress_made_.notify_all();
  ++num_cancelling_;
  progress_made_.wait(lock, [&] { return busy_workers_ == 0; });
  --num_cancelling_;
  release_reads(dropped);
}

bool Executor::wait_for_steps(double seconds) {
  std::unique_lock<std::mutex> lock(mutex_);
  return progress_made_.wait_until(lock, deadline_after(seconds),
                                   [&] { return steps_running_.empty(); });
}

void Executor::close() {
  {
    // First of all, so that threads that wait for a dropped batch can tell why it was dropped.
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  cancel();
  work_available_.notify_all();
  reads_available_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  threads_.clear();
  pool_->trim();
}

bool Executor::closed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return closing_;
}

}  // namespace dali_core
