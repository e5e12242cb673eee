// Converting a tensor to another type, shared by fn.cast and fn.cast_like.
#pragma once

#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// The argument `dtype` of fn.cast.
DataType cast_type(const OperatorConfig& config);

// Makes output 0 from input 0, which is forwarded if it has the type already.
void cast_tensor(SampleContext& sample, DataType type);

// The same on the device, with a type for each sample.
void cast_batch(DeviceBatch& batch, const std::vector<DataType>& types);

}  // namespace dali_core
