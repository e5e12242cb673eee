// Operators that only give their input another name or shape: on a device they do what they do on
// the host, since they never look at elements.
#pragma once

#include <memory>
#include <string>

#include "dali_core/device_operator.hpp"

namespace dali_core {

class ForwardOnDevice : public DeviceOperator {
 public:
  explicit ForwardOnDevice(std::unique_ptr<const Operator> on_host)
      : on_host_(std::move(on_host)) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      for (int k = 1; k < sample.num_inputs(); ++k)
        if (sample.input(k).device != kHost)
          throw std::invalid_argument("input " + std::to_string(k) +
                                      " must be on the host, where shapes are found (got one on "
                                      "the GPU). Pass it by .cpu().");
      on_host_->run(sample);
      Tensor& output = batch.output(0, i);
      if (output.device != kHost) return;
      const auto bytes = static_cast<size_t>(output.num_bytes());
      const std::shared_ptr<void> memory = batch.allocate_on_device(bytes);
      batch.copy_to_device(memory.get(), output.data, bytes, output.storage);
      output.storage = memory;
      output.data = memory.get();
      output.device = batch.device();
    });
  }

 private:
  const std::unique_ptr<const Operator> on_host_;
};

#define DALI_CORE_REGISTER_FORWARDING_OPERATOR(name, type)                         \
  static const ::dali_core::RegisterDeviceOperator forwarding_registration_##type( \
      name, [](const ::dali_core::OperatorConfig& config) {                        \
        return std::make_unique<::dali_core::ForwardOnDevice>(                     \
            std::make_unique<const type>(config));                                 \
      });

}  // namespace dali_core
