// The binary interface (ABI) between a library of operators and the engine that loads it.
#pragma once

#include <cstddef>
#include <string>

#include "dali_core/operator.hpp"

namespace dali_core {

// Raised whenever a header that `operator_library.hpp` includes changes a class, a virtual function
// or what something means; tests/test_operator_packages.py compares the headers with those of the
// number.
constexpr int kAbiVersion = 1;

// The number, the standard library, and the sizes that the compiler gave to what is passed.
inline std::string abi_text() {
  std::string text = "interface " + std::to_string(kAbiVersion);
#if defined(_GLIBCXX_USE_CXX11_ABI)
  text += ", libstdc++ with _GLIBCXX_USE_CXX11_ABI=" + std::to_string(_GLIBCXX_USE_CXX11_ABI);
#elif defined(_LIBCPP_ABI_VERSION)
  text += ", libc++ " + std::to_string(_LIBCPP_ABI_VERSION);
#else
  text += ", another standard library";
#endif
  text += ", sizes";
  for (const std::size_t size :
       {sizeof(void*), sizeof(std::string), sizeof(Shape), sizeof(Layout), sizeof(Tensor),
        sizeof(BufferPool), sizeof(Scratch), sizeof(SampleKey), sizeof(OutputSlot),
        sizeof(Inferred), sizeof(ArgumentValue), sizeof(OperatorConfig), sizeof(SampleContext),
        sizeof(Operator), sizeof(OperatorEntry), sizeof(OperatorEntry::chain_role)})
    text += " " + std::to_string(size);
  return text;
}

}  // namespace dali_core
