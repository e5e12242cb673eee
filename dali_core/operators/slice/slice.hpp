// fn.slice: which input element lands on an output element, and how it changes its type, is told by
// window_source() and window_convert() of dali_core/window_rule.hpp; host loops and device kernels
// share them.
#pragma once

#include "dali_core/window_rule.hpp"
