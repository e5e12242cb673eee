#include "operator_library.hpp"

#include <dlfcn.h>

#include <map>

#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

using Registry = std::map<std::string, OperatorEntry>;

[[noreturn]] void refuse(const std::string& what, const std::string& got, const std::string& cure) {
  throw OperatorLibraryError(what + " (got " + got + "). " + cure);
}

template <typename Function>
Function* find(void* handle, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(handle, name));
}

const Registry& operators_of(void* handle) {
  auto* abi = find<const char*()>(handle, "dali_core_operator_abi");
  auto* operators = find<const void*()>(handle, "dali_core_operators");
  if (!abi || !operators)
    refuse("must be a library of operators for dali_core", "one without their entry points",
           "Include dali_core/operator_library.hpp in one of its source files.");
  const std::string own = abi_text(), theirs = abi();
  if (own != theirs)
    refuse("must be compiled for the installed dali_core, which has: " + own, theirs,
           "Build the package again, against the headers of dali_core.get_include().");
  return *static_cast<const Registry*>(operators());
}

// Chains know other roles by classes that are not among the headers of packages.
void check_entry(const std::string& name, const OperatorEntry& entry) {
  if (operator_registry().count(name) != 0)
    refuse("operator \"" + name + "\" must have a name of its own", "one that is taken",
           "Choose another name.");
  if (entry.chain_role != ChainRole::kNone && entry.chain_role != ChainRole::kPixels)
    refuse("operator \"" + name + "\" must have no place in chains but that of a PixelStep",
           "another", "Derive it from Operator, EachFrame and PixelStep only.");
  if (!entry.runs_on_host || entry.runs_on_device)
    refuse("operator \"" + name + "\" must run on the host", "one that plans for devices",
           "Implement run(), and not plan().");
}

}  // namespace

std::vector<std::string> load_operator_library(const std::string& path, bool share_symbols) {
  // Libraries stay loaded: operators of pipelines may live as long as the process.
  static std::map<void*, std::vector<std::string>> loaded;
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | (share_symbols ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!handle)
    refuse("must be a shared library that can be loaded", ::dlerror(),
           "Build it again on this machine.");
  const auto found = loaded.find(handle);
  if (found != loaded.end()) {
    ::dlclose(handle);  // which only counts down
    return found->second;
  }
  try {
    const Registry& operators = operators_of(handle);
    for (const auto& [name, entry] : operators) check_entry(name, entry);
    std::vector<std::string>& names = loaded[handle];
    for (const auto& [name, entry] : operators) {
      operator_registry()[name] = entry;
      names.push_back(name);
    }
    return names;
  } catch (...) {
    if (loaded.count(handle) == 0) ::dlclose(handle);
    throw;
  }
}

}  // namespace dali_core
