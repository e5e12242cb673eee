#include "chains.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "dali_core/kernels/elementwise/device_elementwise.hpp"
#include "dali_core/kernels/elementwise/elementwise.hpp"
#include "device_image_chain.hpp"
#include "image_chain.hpp"

namespace dali_core {
namespace {

std::vector<const ElementwiseStep*> steps_of(const std::vector<Instruction>& members) {
  std::vector<const ElementwiseStep*> steps;
  for (const Instruction& member : members)
    steps.push_back(&dynamic_cast<const ElementwiseStep&>(*member.op));
  return steps;
}

std::vector<std::vector<int>> makers_of(const std::vector<Instruction>& members) {
  std::vector<std::vector<int>> makers;
  for (const Instruction& member : members) {
    std::vector<int>& own = makers.emplace_back();
    for (const int value : member.inputs) {
      const auto made = std::find_if(members.begin(), members.end(), [&](const Instruction& other) {
        return other.outputs.front() == value;
      });
      own.push_back(made == members.end() ? -1 : static_cast<int>(made - members.begin()));
    }
  }
  return makers;
}

std::vector<std::shared_ptr<const Operator>> operators_of(const std::vector<Instruction>& members) {
  std::vector<std::shared_ptr<const Operator>> operators;
  for (const Instruction& member : members) operators.push_back(member.op);
  return operators;
}

class ElementwiseChain : public FusedChain {
 public:
  explicit ElementwiseChain(const std::vector<Instruction>& members)
      : operators_(operators_of(members)), program_(steps_of(members), makers_of(members)) {}

  bool run(SampleContext& own, std::vector<SampleContext>& operators) const override {
    std::vector<SampleContext*> contexts;
    contexts.reserve(operators.size());
    for (SampleContext& context : operators) contexts.push_back(&context);
    program_.run(own, contexts);
    return true;
  }

 private:
  const std::vector<std::shared_ptr<const Operator>> operators_;
  const ElementwiseProgram program_;
};

bool is_elementwise(const std::vector<Instruction>& members) {
  return dynamic_cast<const ElementwiseStep*>(members.front().op.get()) != nullptr;
}

class ElementwiseChainOnDevice : public DeviceChain {
 public:
  explicit ElementwiseChainOnDevice(const std::vector<Instruction>& members)
      : operators_(operators_of(members)), group_(steps_of(members), makers_of(members)) {}

  bool plan(DeviceBatch& batch) const override { return group_.plan(batch); }

 private:
  const std::vector<std::shared_ptr<const Operator>> operators_;
  const DeviceElementwise group_;
};

}  // namespace

std::shared_ptr<const FusedChain> make_chain(const std::vector<Instruction>& members) {
  if (is_elementwise(members)) return std::make_shared<const ElementwiseChain>(members);
  return std::make_shared<const ImageChain>(operators_of(members));
}

std::shared_ptr<const DeviceChain> make_device_chain(const std::vector<Instruction>& members) {
  if (is_elementwise(members)) return std::make_shared<const ElementwiseChainOnDevice>(members);
  return std::make_shared<const DeviceImageChain>(operators_of(members));
}

std::shared_ptr<const FusedChain> make_region_chain(const std::vector<Instruction>& members) {
  return std::make_shared<const RegionChain>(operators_of(members));
}

}  // namespace dali_core
