// fn.cast: the rule for one element is convert() of dali_core/convert.hpp; host loops and device
// kernels share it.
#pragma once

#include "dali_core/convert.hpp"
