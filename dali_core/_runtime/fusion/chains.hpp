// Makes chains: several operators that run as one.
#pragma once

#include <memory>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "sample_program.hpp"

namespace dali_core {

// From the instructions of a chain in their order; the first one's role determines its kind.
std::shared_ptr<const FusedChain> make_chain(const std::vector<Instruction>& members);

// The same on a device, from the operators' code for the host, which knows what they do. Null if
// they have to run one by one.
std::shared_ptr<const DeviceChain> make_device_chain(const std::vector<Instruction>& members);

// What a decoder does on the host for a chain on the device that follows it: from the decoder's
// instruction, and those of the chain in their order. See RegionChain.
std::shared_ptr<const FusedChain> make_region_chain(const std::vector<Instruction>& members);

}  // namespace dali_core
