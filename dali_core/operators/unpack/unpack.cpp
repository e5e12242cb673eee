// fn.unpack: the elements of one segment of a packed row.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class Unpack : public Operator {
 public:
  explicit Unpack(const OperatorConfig& config) : segment_(config, "segment") {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Tensor& ids = sample.input(1);
    if (input.shape.ndim < 1 || ids.shape.ndim != 1 || ids.shape[0] != input.shape[0])
      throw std::invalid_argument(
          "segment ids must be one for each element of the row (got shape " + to_string(ids.shape) +
          " for a row of shape " + to_string(input.shape) +
          "). Pass those that fn.pack gave with the row.");
    const int64_t wanted = segment_.at(sample);
    visit_type(ids.type, [&](auto zero) {
      using Id = decltype(zero);
      const Id* const begin = ids.as<Id>();
      const auto is_wanted = [&](Id id) { return convert<int64_t>(id) == wanted; };
      Shape shape = input.shape;
      shape[0] = std::count_if(begin, begin + ids.shape[0], is_wanted);
      const auto bytes = static_cast<size_t>(dense_strides(input.shape)[0] * size_of(input.type));
      const char* in = input.as<char>();
      char* out = sample.output(0, input.type, shape, input.layout).as<char>();
      for (int64_t i = 0; i < ids.shape[0]; ++i, in += bytes) {
        if (!is_wanted(begin[i])) continue;
        if (bytes > 0) std::memcpy(out, in, bytes);
        out += bytes;
      }
    });
  }

 private:
  Argument<int64_t> segment_;
};

DALI_CORE_REGISTER_OPERATOR("unpack", Unpack)

}  // namespace dali_core
