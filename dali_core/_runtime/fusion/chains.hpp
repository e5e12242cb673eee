// Makes what runs several operators as one.
#pragma once

#include <memory>
#include <vector>

#include "sample_program.hpp"

namespace dali_core {

// From the instructions of a chain in their order; the first one's role tells which kind it is.
std::shared_ptr<const FusedChain> make_chain(const std::vector<Instruction>& members);

}  // namespace dali_core
