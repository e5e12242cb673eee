// fn.cast_like: the rule for one element is convert() of dali_core/convert.hpp, as of fn.cast.
#pragma once

#include "dali_core/convert.hpp"
