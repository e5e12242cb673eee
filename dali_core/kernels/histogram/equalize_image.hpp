// The host loop of fn.equalize.
#pragma once

#include "dali_core/operator.hpp"

namespace dali_core {

// Output 0 of the sample becomes input 0 with equalized histograms.
void equalize_image(SampleContext& sample);

}  // namespace dali_core
