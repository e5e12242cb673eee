// What an operator is on a device: built once from checked arguments, then it plans a whole batch
// on the host, and asks for one launch of a kernel that computes all samples.
//
//   class FlipOnDevice : public DeviceOperator {
//    public:
//     explicit FlipOnDevice(const OperatorConfig& config) : horizontal_(config, "horizontal") {}
//     void plan(DeviceBatch& batch) const override {
//       batch.for_each([&](int i, SampleContext& sample) {
//         batch.declare(0, i, sample.input(0).type, sample.input(0).shape, sample.input(0).layout);
//       });
//       batch.allocate();
//       const auto flips = batch.upload<FlipParameters>(batch.size());
//       batch.for_each([&](int i, SampleContext& sample) {
//         flips.host[i] = {batch.input(0, i).data, batch.output(0, i).data, ...};
//       });
//       batch.launch("flip", blocks_for(largest), 256, flips.device);
//     }
//   };
//   DALI_CORE_REGISTER_DEVICE_OPERATOR("flip", FlipOnDevice)
//
// Nothing here needs CUDA: memory comes from a DeviceMemory, and what is to be done is a list,
// which dali_core._cuda carries out. Planning never looks at data on the device; per-sample
// arguments are on the host. An error is an ordinary exception, thrown inside `for_each` if it is
// of one sample.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
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
  static constexpr int kMostArguments = 16;
  static constexpr size_t kMostArgumentBytes = 256;

  const char* kernel = nullptr;  // name of the `extern "C" __global__` function; a literal
  int node = 0;                  // the graph's node, for error messages
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  int num_arguments = 0;
  uint16_t offsets[kMostArguments] = {};
  alignas(16) char bytes[kMostArgumentBytes] = {};

  template <typename T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    size_t offset = num_arguments ? end_ : 0;
    offset = (offset + alignof(T) - 1) / alignof(T) * alignof(T);
    if (num_arguments == kMostArguments || offset + sizeof(T) > kMostArgumentBytes)
      throw std::logic_error("kernels must have at most 16 arguments of 256 bytes together.");
    std::memcpy(bytes + offset, &value, sizeof(T));
    offsets[num_arguments++] = static_cast<uint16_t>(offset);
    end_ = offset + sizeof(T);
  }

 private:
  size_t end_ = 0;
};

// Bytes to copy, in the order of the stream. `keep` is what the host side lies in.
struct MemoryCopy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  std::shared_ptr<void> keep;
};

// A piece of page-locked memory, and its image on the device.
struct UploadBlock {
  std::shared_ptr<void> host;
  std::shared_ptr<void> device;
  size_t capacity = 0;
};

// Where memory comes from. All of it is aligned to 256 bytes.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // The device's number.
  virtual int8_t device() const = 0;
  // Memory on the device, for use in the order of the stream, in which it is given back when the
  // last owner has let go. Throws DeviceFailure.
  virtual std::shared_ptr<void> allocate(size_t bytes) = 0;
  // Page-locked memory of the host.
  virtual std::shared_ptr<void> allocate_host(size_t bytes) = 0;
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
};

// Parameters that go to the device in one copy with those of all other operators of the stage.
class UploadArena {
 public:
  explicit UploadArena(DeviceMemory& memory) : memory_(memory) {}

  // The host's and the device's address of `bytes` bytes.
  std::pair<char*, char*> take(size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (blocks_.empty() || used_ + bytes > blocks_.back().capacity) {
      close_block();
      UploadBlock block;
      block.capacity = std::max({bytes, expected_bytes, size_t{4096}});
      block.host = memory_.allocate_host(block.capacity);
      block.device = memory_.allocate(block.capacity);
      blocks_.push_back(std::move(block));
    }
    const size_t begin = used_;
    used_ += bytes;
    return {static_cast<char*>(blocks_.back().host.get()) + begin,
            static_cast<char*>(blocks_.back().device.get()) + begin};
  }

  // Adds the copies to the work; nothing may be written afterwards.
  void finish(DeviceWork& work) {
    close_block();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      work.uploads.push_back(
          {blocks_[i].device.get(), blocks_[i].host.get(), block_bytes_[i], blocks_[i].host});
      work.scratch.push_back(blocks_[i].device);
    }
  }

  size_t total_bytes() const { return total_ + used_; }

  // How much the stage needed for the batch before: then one block is enough.
  size_t expected_bytes = 0;

 private:
  void close_block() {
    if (!blocks_.empty()) block_bytes_.push_back(used_);
    total_ += used_;
    used_ = 0;
  }

  DeviceMemory& memory_;
  std::vector<UploadBlock> blocks_;
  std::vector<size_t> block_bytes_;
  size_t used_ = 0;
  size_t total_ = 0;
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
  DeviceBatch(DeviceMemory& memory, UploadArena& arena, DeviceWork& work,
              std::vector<std::vector<SampleContext>>& contexts,
              std::vector<std::vector<Tensor>>& outputs, int node)
      : memory_(memory),
        arena_(arena),
        work_(work),
        contexts_(contexts),
        outputs_(outputs),
        node_(node),
        size_(contexts.empty() ? 0 : static_cast<int>(contexts.front().size())),
        is_declared_(outputs.size(), std::vector<bool>(static_cast<size_t>(size_))) {}

  int size() const { return size_; }
  int num_members() const { return static_cast<int>(contexts_.size()); }
  int8_t device() const { return memory_.device(); }

  // Arguments, random numbers and inputs of a sample. Data of inputs is on the device.
  SampleContext& sample(int i, int member = 0) { return contexts_[member][i]; }
  const Tensor& input(int number, int i) const { return contexts_.front()[i].input(number); }
  Tensor& output(int number, int i) { return outputs_[number][i]; }

  // Calls `function(i, context)` for each sample, with the context of one member.
  template <typename Function>
  void for_each(Function&& function, int member = 0) {
    for (int i = 0; i < size_; ++i) {
      try {
        function(i, contexts_[member][i]);
      } catch (const DeviceFailure&) {
        throw;
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const DevicePlanError&) {
        throw;
      } catch (const std::exception& error) {
        throw DevicePlanError(i, member, error.what());
      }
    }
  }

  // Says what output `number` of a sample is; it has no memory yet.
  void declare(int number, int i, DataType type, const Shape& shape, const Layout& layout = {}) {
    check_size(shape, type);
    Tensor& tensor = outputs_[number][i];
    tensor.type = type;
    tensor.shape = shape;
    tensor.layout = layout;
    is_declared_[number][i] = true;
  }

  // Makes an output the same memory as `tensor` (an input): nothing is copied.
  Tensor& forward(int number, int i, const Tensor& tensor) {
    is_declared_[number][i] = false;
    return outputs_[number][i] = tensor;
  }

  // The same, as a tensor of another shape with no more bytes.
  Tensor& forward(int number, int i, const Tensor& tensor, const Shape& shape,
                  const Layout& layout) {
    return forward(number, i, viewed_as(tensor, shape, layout));
  }

  // Gives memory to all that was declared: one block for each output, its samples side by side.
  void allocate() {
    for (size_t number = 0; number < outputs_.size(); ++number) {
      int64_t total = 0;
      for (int i = 0; i < size_; ++i)
        if (is_declared_[number][i]) total = checked_sum(total, outputs_[number][i].num_bytes());
      const std::shared_ptr<void> block = memory_.allocate(static_cast<size_t>(total));
      char* position = static_cast<char*>(block.get());
      for (int i = 0; i < size_; ++i) {
        Tensor& tensor = outputs_[number][i];
        if (!is_declared_[number][i]) continue;
        tensor.storage = block;
        tensor.data = position;
        tensor.device = memory_.device();
        position += tensor.num_bytes();
        is_declared_[number][i] = false;
      }
    }
  }

  // Room for `count` parameters, which kernels of this stage read.
  template <typename T>
  UploadedArray<T> upload(size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    check_size({static_cast<int64_t>(count)}, DataType::kFloat64);
    const auto [host, device] = arena_.take(count * sizeof(T));
    return {reinterpret_cast<T*>(host), reinterpret_cast<const T*>(device)};
  }

  // Memory on the device for intermediate results of this operator.
  void* scratch(size_t bytes) {
    work_.scratch.push_back(memory_.allocate(bytes));
    return work_.scratch.back().get();
  }

  // Page-locked memory of the host, for results.
  std::shared_ptr<void> allocate_host(size_t bytes) { return memory_.allocate_host(bytes); }
  std::shared_ptr<void> allocate_on_device(size_t bytes) { return memory_.allocate(bytes); }

  void copy_to_device(void* to, const void* from, size_t bytes, std::shared_ptr<void> keep) {
    if (bytes) work_.uploads.push_back({to, from, bytes, std::move(keep)});
  }
  void copy_to_host(void* to, const void* from, size_t bytes, std::shared_ptr<void> keep) {
    if (bytes) work_.downloads.push_back({to, from, bytes, std::move(keep)});
  }

  // Runs a kernel for the whole batch: the grid is `blocks` for each of the samples. Nothing
  // happens if there are no blocks or no samples.
  template <typename... Arguments>
  void launch(const char* kernel, int64_t blocks, unsigned threads, const Arguments&... arguments) {
    if (blocks == 0 || size_ == 0) return;
    KernelLaunch call = launch_of(kernel, arguments...);
    constexpr unsigned kMostInY = 32768;
    call.grid[0] = static_cast<unsigned>(std::min<int64_t>(blocks, kMostBlocks));
    call.grid[1] = std::min<unsigned>(static_cast<unsigned>(size_), kMostInY);
    call.grid[2] = (static_cast<unsigned>(size_) + kMostInY - 1) / kMostInY;
    call.block[0] = threads;
    work_.launches.push_back(call);
  }

  // Runs a kernel with a grid of its own.
  void launch(const KernelLaunch& call) {
    work_.launches.push_back(call);
    work_.launches.back().node = node_;
  }

  template <typename... Arguments>
  KernelLaunch launch_of(const char* kernel, const Arguments&... arguments) const {
    KernelLaunch call;
    call.kernel = kernel;
    call.node = node_;
    (call.add(arguments), ...);
    return call;
  }

  // Of one sample, in x: kernels go on from there in steps of the grid.
  static constexpr int64_t kMostBlocks = 65535;

 private:
  DeviceMemory& memory_;
  UploadArena& arena_;
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

class DeviceOperator {
 public:
  virtual ~DeviceOperator() = default;
  virtual void plan(DeviceBatch& batch) const = 0;
};

// Several operators that run as one on the device. False: it cannot for this batch, nothing has
// been asked for, and the operators are to run one by one.
class DeviceChain {
 public:
  virtual ~DeviceChain() = default;
  virtual bool plan(DeviceBatch& batch) const = 0;
};

// Operators by name, as those of the host.
using MakeDeviceOperator = std::function<std::unique_ptr<DeviceOperator>(const OperatorConfig&)>;
std::map<std::string, MakeDeviceOperator>& device_operator_registry();

struct RegisterDeviceOperator {
  RegisterDeviceOperator(const char* name, MakeDeviceOperator make) {
    device_operator_registry()[name] = std::move(make);
  }
};

#define DALI_CORE_REGISTER_DEVICE_OPERATOR(name, type)                            \
  static const ::dali_core::RegisterDeviceOperator device_registration_of_##type( \
      name, [](const ::dali_core::OperatorConfig& config) {                       \
        return std::unique_ptr<::dali_core::DeviceOperator>(new type(config));    \
      });

}  // namespace dali_core
