#include "dali_core/device_batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "dali_core/size_classes.hpp"

namespace dali_core {
namespace {

constexpr size_t kLeastBlock = 4096;

constexpr size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

// Samples of one size follow each other without a gap, since they may be used as one tensor.
int64_t alignment_of(const std::vector<Tensor>& samples, const std::vector<bool>& is_declared) {
  int64_t bytes = -1;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!is_declared[i]) continue;
    const int64_t own = samples[i].num_bytes();
    if (bytes >= 0 && own != bytes) return kRaggedAlignment;
    bytes = own;
  }
  return 1;
}

}  // namespace

namespace {

// Threads read the parameters of their sample before anything else, so fewer of them with
// grid-stride loops are faster than one for each item: some for each multiprocessor, and for each
// sample as many as keep a device busy where other samples are small.
constexpr int64_t kMostBlocks = 4096;
constexpr int64_t kBlocksOfSample = 512;

std::atomic<int64_t> most_blocks{kMostBlocks};

}  // namespace

void KernelLaunch::limit_blocks(int64_t blocks) {
  most_blocks = blocks == 0 ? kMostBlocks : blocks;
}

void KernelLaunch::set_grid(int64_t blocks, int64_t count, unsigned threads) {
  constexpr int64_t kMaxGridY = 32768;
  const int64_t most = most_blocks;
  const int64_t of_sample = std::max(most / count, std::min(most, kBlocksOfSample));
  grid[0] = static_cast<unsigned>(std::min(blocks, of_sample));
  grid[1] = static_cast<unsigned>(std::min(count, kMaxGridY));
  grid[2] = static_cast<unsigned>((count + kMaxGridY - 1) / kMaxGridY);
  block[0] = threads;
}

void KernelLaunch::add(const void* value, size_t size, size_t alignment) {
  const size_t offset = ((num_arguments ? end_ : 0) + alignment - 1) / alignment * alignment;
  if (num_arguments == kMaxArguments || offset + size > kMaxArgumentBytes)
    throw std::logic_error("kernels must have at most 16 arguments of 256 bytes together.");
  std::memcpy(bytes + offset, value, size);
  offsets[num_arguments++] = static_cast<uint16_t>(offset);
  end_ = offset + size;
}

void ExpectedBytes::update(size_t used_for_uploads, size_t used_for_scratch) {
  const auto updated = [](size_t expected, size_t used) {
    return std::max(used + used / 8, expected - expected / 64);
  };
  uploads = updated(uploads, used_for_uploads);
  scratch = updated(scratch, used_for_scratch);
}

std::pair<char*, char*> StageArena::take_upload(size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (uploads_.empty() || uploads_.back().used + bytes > uploads_.back().capacity) {
    UploadBlock block;
    block.capacity = std::max({bytes, expected_.uploads, kLeastBlock});
    block.host = memory_.allocate_host(block.capacity);
    block.device = take_on_device(block.capacity);
    uploads_.push_back(std::move(block));
  }
  UploadBlock& block = uploads_.back();
  const size_t begin = std::exchange(block.used, block.used + bytes);
  return {static_cast<char*>(block.host.get()) + begin, block.device + begin};
}

char* StageArena::take_scratch(size_t bytes) {
  scratch_bytes_ += aligned(bytes);
  return take_on_device(bytes);
}

char* StageArena::take_on_device(size_t bytes) {
  bytes = aligned(bytes);
  if (free_ == nullptr || bytes > free_bytes_) {
    size_t capacity = std::max(bytes, kLeastBlock);
    if (device_blocks_.empty() && expected_.uploads > 0)
      capacity = std::max(
          capacity, aligned(std::max(expected_.uploads, kLeastBlock)) + aligned(expected_.scratch));
    device_blocks_.push_back(memory_.allocate(capacity));
    free_ = static_cast<char*>(device_blocks_.back().get());
    free_bytes_ = capacity;
  }
  free_bytes_ -= bytes;
  return std::exchange(free_, free_ + bytes);
}

void StageArena::finish(DeviceWork& work) {
  for (const UploadBlock& block : uploads_)
    work.uploads.push_back({block.device, block.host.get(), block.used, block.host});
  for (std::shared_ptr<void>& block : device_blocks_) work.scratch.push_back(std::move(block));
}

size_t StageArena::upload_bytes() const {
  size_t total = 0;
  for (const UploadBlock& block : uploads_) total += block.used;
  return total;
}

DeviceBatch::DeviceBatch(DeviceMemory& memory, StageArena& arena, DeviceWork& work,
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

void DeviceBatch::call_for_each(void (*function)(void*, int, SampleContext&), void* called,
                                int member) {
  for (int i = 0; i < size_; ++i) {
    try {
      function(called, i, contexts_[member][i]);
    } catch (const DeviceFailure&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const DevicePlanError&) {
      throw;
    } catch (const std::exception& error) {
      std::throw_with_nested(DevicePlanError(i, member, error.what()));
    }
  }
}

void DeviceBatch::declare(int number, int i, DataType type, const Shape& shape,
                          const Layout& layout) {
  check_size(shape, type);
  Tensor& tensor = outputs_[number][i];
  tensor.type = type;
  tensor.shape = shape;
  tensor.layout = layout;
  is_declared_[number][i] = true;
}

Tensor& DeviceBatch::forward(int number, int i, const Tensor& tensor) {
  is_declared_[number][i] = false;
  return outputs_[number][i] = tensor;
}

Tensor& DeviceBatch::forward(int number, int i, const Tensor& tensor, const Shape& shape,
                             const Layout& layout) {
  return forward(number, i, viewed_as(tensor, shape, layout));
}

void DeviceBatch::declare(int i, const Inferred& inferred) {
  if (inferred.forwarded < 0) return declare(0, i, inferred.type, inferred.shape, inferred.layout);
  Tensor& view = forward(0, i, input(inferred.forwarded, i), inferred.shape, inferred.layout);
  view.data = static_cast<char*>(view.data) + inferred.offset;
  move_to_device(view);
}

void DeviceBatch::move_to_device(Tensor& tensor) {
  if (tensor.device != kHost) return;
  const auto bytes = static_cast<size_t>(tensor.num_bytes());
  const std::shared_ptr<void> memory = memory_.allocate(bytes);
  copy_to_device(memory.get(), tensor.data, bytes, tensor.storage);
  tensor.storage = memory;
  tensor.data = memory.get();
  tensor.device = memory_.device();
}

void DeviceBatch::allocate() {
  for (size_t number = 0; number < outputs_.size(); ++number) {
    const int64_t alignment = alignment_of(outputs_[number], is_declared_[number]);
    const auto room_for = [&](const Tensor& tensor) {
      return checked_sum(tensor.num_bytes(), alignment - 1) / alignment * alignment;
    };
    int64_t total = 0;
    for (int i = 0; i < size_; ++i)
      if (is_declared_[number][i]) total = checked_sum(total, room_for(outputs_[number][i]));
    const std::shared_ptr<void> block = memory_.allocate(static_cast<size_t>(total));
    char* position = static_cast<char*>(block.get());
    for (int i = 0; i < size_; ++i) {
      Tensor& tensor = outputs_[number][i];
      if (!is_declared_[number][i]) continue;
      tensor.storage = block;
      tensor.data = position;
      tensor.device = memory_.device();
      position += room_for(tensor);
      is_declared_[number][i] = false;
    }
  }
}

std::pair<char*, char*> DeviceBatch::take_upload(size_t count, size_t element_bytes) {
  check_size({static_cast<int64_t>(count)}, DataType::kFloat64);
  return arena_.take_upload(count * element_bytes);
}

void* DeviceBatch::scratch(size_t bytes) { return arena_.take_scratch(bytes); }

void DeviceBatch::copy_to_device(void* to, const void* from, size_t bytes,
                                 std::shared_ptr<void> keep) {
  if (bytes) work_.uploads.push_back({to, from, bytes, std::move(keep)});
}

void DeviceBatch::copy_to_host(void* to, const void* from, size_t bytes,
                               std::shared_ptr<void> keep) {
  if (bytes) work_.downloads.push_back({to, from, bytes, std::move(keep)});
}

void DeviceBatch::launch(KernelLaunch call, int64_t blocks, unsigned threads) {
  if (blocks == 0 || size_ == 0) return;
  call.set_grid(blocks, size_, threads);
  work_.launches.push_back(call);
}

void DeviceBatch::launch(const KernelLaunch& call) {
  work_.launches.push_back(call);
  work_.launches.back().node = node_;
}

void ForwardingOperator::plan(DeviceBatch& batch) const {
  batch.for_each([&](int i, SampleContext& sample) {
    for (int k = 1; k < sample.num_inputs(); ++k)
      if (sample.input(k).device != kHost)
        throw std::invalid_argument("input " + std::to_string(k) +
                                    " must be on the host, where shapes are found (got one on "
                                    "the GPU). Pass it by .cpu().");
    run(sample);
    for (int number = 0; number < batch.num_outputs(); ++number)
      batch.move_to_device(batch.output(number, i));
  });
}

}  // namespace dali_core
