// The interface for planning an operator on a device: a whole batch, on the host, with one launch
// of a kernel that computes all samples. Most operators leave that to
// kernels/tasks/task_operator.hpp; others plan it themselves:
//
//   void Flip::plan(DeviceBatch& batch) const {
//     batch.for_each([&](int i, SampleContext& sample) {
//       batch.declare(0, i, sample.input(0).type, sample.input(0).shape, sample.input(0).layout);
//     });
//     batch.allocate();
//     const auto flips = batch.upload<FlipParameters>(batch.size());
//     batch.for_each([&](int i, SampleContext& sample) {
//       flips.host[i] = {batch.input(0, i).data, batch.output(0, i).data, ...};
//     });
//     batch.launch("flip", blocks_for(largest), 256, flips.device);
//   }
//
// Nothing here needs CUDA: memory comes from a DeviceMemory, and what is to be done is a list,
// which dali_core._cuda carries out. Planning never looks at data on the device; per-sample
// arguments are on the host. An error is an ordinary exception, thrown inside `for_each` if it is
// of one sample.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

// A call of a kernel. Plain data of fixed size, so that launching allocates nothing.
struct KernelLaunch {
  static constexpr int kMaxArguments = 16;
  static constexpr size_t kMaxArgumentBytes = 256;

  const char* kernel = nullptr;  // name of the `extern "C" __global__` function; a literal
  int node = 0;                  // the graph's node, for error messages
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  int num_arguments = 0;
  uint16_t offsets[kMaxArguments] = {};
  alignas(16) char bytes[kMaxArgumentBytes] = {};

  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    add(&value, sizeof(T), alignof(T));
  }

  // Blocks of `threads` threads for each of `count` samples or tasks: `blocks`, or fewer with
  // grid-stride loops.
  void set_grid(int64_t blocks, int64_t count, unsigned threads);

  // Changes how many blocks a grid may have, for tests; 0 is as many as usual.
  static void limit_blocks(int64_t blocks);

 private:
  void add(const void* value, size_t size, size_t alignment);

  size_t end_ = 0;
};

// Bytes to copy, in the order of the stream. `keep` is what the host side lies in.
struct MemoryCopy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  std::shared_ptr<void> keep;
};

// A piece of pinned memory, and its image on the device.
struct UploadBlock {
  std::shared_ptr<void> host;
  char* device = nullptr;
  size_t capacity = 0;
  size_t used = 0;
};

// How much memory a stage may need, going by the batches before.
struct ExpectedBytes {
  size_t uploads = 0;
  size_t scratch = 0;

  // What differs a little from batch to batch is expected as well; what was much once is forgotten.
  void update(size_t used_for_uploads, size_t used_for_scratch);
};

// Where memory comes from. All of it is aligned to 256 bytes.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // The device's number.
  virtual int8_t device() const = 0;
  // Memory on the device, for use in the order of the stream, in which it is given back when the
  // last owner has released it. Throws DeviceFailure.
  virtual std::shared_ptr<void> allocate(size_t bytes) = 0;
  // Pinned memory of the host.
  virtual std::shared_ptr<void> allocate_host(size_t bytes) = 0;
  // Whether memory of the host is pinned: kernels can read it then.
  virtual bool is_pinned(const std::shared_ptr<void>& memory) const = 0;
};

// The driver refuses something; no sample is to blame.
struct DeviceFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct OutOfDeviceMemory : DeviceFailure {
  using DeviceFailure::DeviceFailure;
};

// What a stage does on the device, in this order: uploads, launches, downloads.
struct DeviceWork {
  std::vector<MemoryCopy> uploads;
  std::vector<KernelLaunch> launches;
  std::vector<MemoryCopy> downloads;
  // Device memory that kernels use for themselves; it may go once everything is in the stream.
  std::vector<std::shared_ptr<void>> scratch;
  // Memory of the host that kernels read; it must stay until they are done.
  std::vector<std::shared_ptr<void>> read_by_kernels;
};

// What all operators of a stage need of the device's memory for a while, in one block if it is as
// much as expected: parameters, which go there in one copy, and room for intermediate results.
class StageArena {
 public:
  StageArena(DeviceMemory& memory, const ExpectedBytes& expected)
      : memory_(memory), expected_(expected) {}

  // The host's and the device's address of `bytes` bytes.
  std::pair<char*, char*> take_upload(size_t bytes);
  // Memory of the device, aligned to 256 bytes.
  char* take_scratch(size_t bytes);

  // Adds the copies to the work; nothing may be written afterwards.
  void finish(DeviceWork& work);

  size_t upload_bytes() const;
  size_t scratch_bytes() const { return scratch_bytes_; }

 private:
  char* take_on_device(size_t bytes);

  DeviceMemory& memory_;
  const ExpectedBytes expected_;
  std::vector<std::shared_ptr<void>> device_blocks_;
  char* free_ = nullptr;  // in the last of them
  size_t free_bytes_ = 0;
  std::vector<UploadBlock> uploads_;
  size_t scratch_bytes_ = 0;
};

// A failure of one sample while its batch was planned; -1 is the batch as a whole.
struct DevicePlanError : std::runtime_error {
  DevicePlanError(int sample, int member, const std::string& message)
      : std::runtime_error(message), sample(sample), member(member) {}
  int sample;
  int member;
};

template <typename T>
struct UploadedArray {
  T* host;          // to be filled
  const T* device;  // for the kernel
};

// One operator's view of a batch; or that of a chain of operators that run as one, its members.
class DeviceBatch {
 public:
  // `contexts[member][sample]` have inputs and arguments; outputs are those of the last member:
  // `outputs[output][sample]`.
  DeviceBatch(DeviceMemory& memory, StageArena& arena, DeviceWork& work,
              std::vector<std::vector<SampleContext>>& contexts,
              std::vector<std::vector<Tensor>>& outputs, int node);

  int size() const { return size_; }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  int num_members() const { return static_cast<int>(contexts_.size()); }
  int8_t device() const { return memory_.device(); }

  // Arguments, random numbers and inputs of a sample. Data of inputs is on the device.
  SampleContext& sample(int i, int member = 0) { return contexts_[member][i]; }
  const Tensor& input(int number, int i) const { return contexts_.front()[i].input(number); }
  Tensor& output(int number, int i) { return outputs_[number][i]; }

  // Calls `function(i, context)` for each sample, with the context of one member.
  template <typename Function>
  void for_each(Function&& function, int member = 0) {
    call_for_each(
        [](void* called, int i, SampleContext& sample) {
          (*static_cast<std::remove_reference_t<Function>*>(called))(i, sample);
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(function))), member);
  }

  // Says what output `number` of a sample is; it has no memory yet.
  void declare(int number, int i, DataType type, const Shape& shape, const Layout& layout = {});

  // Declares output 0 as it was inferred. What is forwarded is copied only from the host.
  void declare(int i, const Inferred& inferred);

  // Makes an output the same memory as `tensor` (an input): nothing is copied.
  Tensor& forward(int number, int i, const Tensor& tensor);

  // The same, as a tensor of another shape with no more bytes.
  Tensor& forward(int number, int i, const Tensor& tensor, const Shape& shape,
                  const Layout& layout);

  // The same memory if it is on the device, otherwise a copy that is.
  void move_to_device(Tensor& tensor);

  // Allocates memory for all that was declared: one block for each output, with contiguous samples.
  void allocate();

  // Room for `count` parameters, which kernels of this stage read.
  template <typename T>
  UploadedArray<T> upload(size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    const auto [host, device] = take_upload(count, sizeof(T));
    return {reinterpret_cast<T*>(host), reinterpret_cast<const T*>(device)};
  }

  // Memory on the device for intermediate results of this operator.
  void* scratch(size_t bytes);

  // Pinned memory of the host, for results.
  std::shared_ptr<void> allocate_host(size_t bytes) { return memory_.allocate_host(bytes); }
  std::shared_ptr<void> allocate_on_device(size_t bytes) { return memory_.allocate(bytes); }
  bool is_pinned(const Tensor& tensor) const { return memory_.is_pinned(tensor.storage); }
  // Keeps pinned memory until the kernels of this stage are done.
  void keep_for_kernels(std::shared_ptr<void> memory) {
    work_.read_by_kernels.push_back(std::move(memory));
  }

  void copy_to_device(void* to, const void* from, size_t bytes, std::shared_ptr<void> keep);
  void copy_to_host(void* to, const void* from, size_t bytes, std::shared_ptr<void> keep);

  // Runs a kernel for the whole batch: the grid is `blocks` for each of the samples. Nothing
  // happens if there are no blocks or no samples.
  template <typename... Arguments>
  void launch(const char* kernel, int64_t blocks, unsigned threads, const Arguments&... arguments) {
    launch(launch_of(kernel, arguments...), blocks, threads);
  }

  // Runs a kernel with a grid of its own.
  void launch(const KernelLaunch& call);

  template <typename... Arguments>
  KernelLaunch launch_of(const char* kernel, const Arguments&... arguments) const {
    KernelLaunch call;
    call.kernel = kernel;
    call.node = node_;
    (call.add(arguments), ...);
    return call;
  }

 private:
  void call_for_each(void (*function)(void*, int, SampleContext&), void* called, int member);
  std::pair<char*, char*> take_upload(size_t count, size_t element_bytes);
  void launch(KernelLaunch call, int64_t blocks, unsigned threads);

  DeviceMemory& memory_;
  StageArena& arena_;
  DeviceWork& work_;
  std::vector<std::vector<SampleContext>>& contexts_;
  std::vector<std::vector<Tensor>>& outputs_;
  int node_;
  int size_;
  std::vector<std::vector<bool>> is_declared_;
};

// How many blocks of `threads` threads take `items` items, each thread `items_per_thread` of them.
inline int64_t blocks_for(int64_t items, int64_t threads, int64_t items_per_thread = 1) {
  const int64_t per_block = threads * items_per_thread;
  return (items + per_block - 1) / per_block;
}

// Several operators that run as one on the device. False: it cannot for this batch, nothing has
// been asked for, and the operators are to run one by one.
class DeviceChain {
 public:
  virtual ~DeviceChain() = default;
  virtual bool plan(DeviceBatch& batch) const = 0;
};

}  // namespace dali_core
