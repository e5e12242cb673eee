// Makes a shared library of operators that dali_core loads while a program runs. One source file of
// the library includes this header, which also brings in the definitions that operators link with:
//
//   #include "dali_core/operator_library.hpp"
//
// The library is compiled with -std=c++17 -fPIC -fvisibility=hidden, and the folder of this header
// (dali_core.get_include()) is its only include path. It has a registry of its own.
#pragma once

// What the definitions below use of the system must not become hidden with them.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "dali_core/abi.hpp"
#include "dali_core/each_frame.hpp"
#include "dali_core/frame_numbers.hpp"

#pragma GCC visibility push(hidden)
#include "frame_numbers.cpp"
#include "host_memory.cpp"
#include "memory.cpp"
#include "operator.cpp"
#include "sizes.cpp"
#include "tensor.cpp"
#include "types.cpp"
#pragma GCC visibility pop

// What the library was compiled for. Text of C, so that any dali_core can read it.
extern "C" __attribute__((visibility("default"))) const char* dali_core_operator_abi() {
  static const std::string text = dali_core::abi_text();
  return text.c_str();
}

// Its operators; called only if the texts are the same.
extern "C" __attribute__((visibility("default"))) const void* dali_core_operators() {
  return &dali_core::operator_registry();
}
