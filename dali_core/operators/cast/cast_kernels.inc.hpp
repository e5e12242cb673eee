// Inner loops of fn.cast, compiled for every instruction set (see simd.hpp), hence without guard.

#include "dali_core/convert_run.inc.hpp"

inline void cast_elements(const void* in, DataType input_type, void* out, DataType output_type,
                          int64_t count) {
  visit_type(input_type, [&](auto from) {
    visit_type(output_type, [&](auto to) {
      convert_run(static_cast<const decltype(from)*>(in), static_cast<decltype(to)*>(out), count);
    });
  });
}
