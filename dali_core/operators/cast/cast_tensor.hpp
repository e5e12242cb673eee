// Converting a tensor to another type, shared by fn.cast and fn.cast_like.
#pragma once

#include "dali_core/operator.hpp"

namespace dali_core {

// Makes output 0 from input 0, which is forwarded if it has the type already.
void cast_tensor(SampleContext& sample, DataType type);

}  // namespace dali_core
