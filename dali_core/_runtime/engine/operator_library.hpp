// Loads shared libraries with operators, which `dali_core/operator_library.hpp` makes.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/abi.hpp"

namespace dali_core {

struct OperatorLibraryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Registers the operators of a library and returns their names; those that it has registered, if it
// is loaded already. With `share_symbols`, libraries that are loaded later may use its symbols.
// Throws an OperatorLibraryError, and registers nothing, if it is not for this engine.
std::vector<std::string> load_operator_library(const std::string& path, bool share_symbols);

}  // namespace dali_core
