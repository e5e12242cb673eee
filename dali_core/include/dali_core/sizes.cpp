#include "dali_core/sizes.hpp"

#include <string>

namespace dali_core {
namespace {

[[noreturn]] void refuse(const std::string& value, int64_t least, int64_t most, const char* name) {
  throw SizeError(std::string(name) + " must be from " + std::to_string(least) + " to " +
                  std::to_string(most) + " (got " + value + "). Choose a number in this range.");
}

[[noreturn]] void refuse_result(int64_t a, const char* operation, int64_t b) {
  throw SizeError("sizes must fit 64 bits (got " + std::to_string(a) + operation +
                  std::to_string(b) + "). Ask for less.");
}

}  // namespace

void refuse_product(int64_t a, int64_t b) { refuse_result(a, " times ", b); }

void refuse_sum(int64_t a, int64_t b) { refuse_result(a, " plus ", b); }

void refuse_number(int64_t value, int64_t least, int64_t most, const char* name) {
  refuse(std::to_string(value), least, most, name);
}

void refuse_number(uint64_t value, int64_t least, int64_t most, const char* name) {
  refuse(std::to_string(value), least, most, name);
}

void refuse_number(double value, int64_t least, int64_t most, const char* name) {
  refuse(std::to_string(value), least, most, name);
}

}  // namespace dali_core
