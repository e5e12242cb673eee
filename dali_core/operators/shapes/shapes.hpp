// fn.shapes: an extent as a number of the output's type, saturated, is convert() of
// dali_core/convert.hpp.
#pragma once

#include "dali_core/convert.hpp"
