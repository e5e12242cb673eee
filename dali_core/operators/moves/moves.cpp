// DataNode.gpu() and DataNode.cpu(): asynchronous copies, as few as the memory's layout allows.
#include "dali_core/device_batch.hpp"

namespace dali_core {
namespace {

size_t bytes_of(const Tensor& tensor) { return static_cast<size_t>(tensor.num_bytes()); }

}  // namespace

class ToDevice : public Operator {
 public:
  explicit ToDevice(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      if (input.device == batch.device())
        batch.forward(0, i, input);
      else
        batch.declare(0, i, input.type, input.shape, input.layout);
    });
    batch.allocate();
    // Neighbours on both sides go in one piece.
    int first = 0;
    for (int i = 0; i < batch.size(); ++i) {
      const Tensor& input = batch.input(0, i);
      const Tensor& next = i + 1 < batch.size() ? batch.input(0, i + 1) : input;
      const bool goes_on = i + 1 < batch.size() && next.storage == input.storage &&
                           next.as<char>() == input.as<char>() + bytes_of(input) &&
                           next.device == input.device;
      if (goes_on) continue;
      const Tensor& begin = batch.input(0, first);
      const size_t bytes =
          static_cast<size_t>(input.as<char>() - begin.as<char>()) + bytes_of(input);
      if (begin.device != batch.device())
        batch.copy_to_device(batch.output(0, first).data, begin.data, bytes, begin.storage);
      first = i + 1;
    }
  }
};

class ToHost : public Operator {
 public:
  explicit ToHost(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    size_t total = 0;
    for (int i = 0; i < batch.size(); ++i) total += padded(bytes_of(batch.input(0, i)));
    if (batch.size() == 0) return;
    const std::shared_ptr<void> block = batch.allocate_host(total);
    char* position = static_cast<char*>(block.get());
    for (int i = 0; i < batch.size(); ++i) {
      const Tensor& input = batch.input(0, i);
      Tensor& output = batch.forward(0, i, input);
      output.storage = block;
      output.data = position;
      output.device = kHost;
      batch.copy_to_host(position, input.data, bytes_of(input), input.storage);
      position += padded(bytes_of(input));
    }
  }

 private:
  static size_t padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
};

DALI_CORE_REGISTER_OPERATOR("moves.to_device", ToDevice)
DALI_CORE_REGISTER_OPERATOR("moves.to_host", ToHost)

}  // namespace dali_core
