// fn.reshape: elements stay where they are; what remains is the arithmetic of shapes, which
// fn.reinterpret shares.
#pragma once

#include "dali_core/reshaping.hpp"
