#include "dali_core/operators/subscript/subscript.hpp"

#include <cstring>

#include "dali_core/operators/subscript/subscript_arguments.hpp"

namespace dali_core {

class Subscript : public Operator {
 public:
  explicit Subscript(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Subscripted part = arguments_.of(sample);
    if (part.is_view(input)) {
      Tensor& view = sample.forward(0, input, part.shape, part.layout);
      view.data = static_cast<char*>(input.data) + part.offset;
      return;
    }
    Tensor& output = sample.output(0, input.type, part.shape, part.layout);
    if (output.num_bytes() == 0) return;
    char* out = output.as<char>();
    copy(input.as<char>() + part.offset, part.selections.data(), part.strides, part.outer,
         part.piece, out);
  }

 private:
  // Copies what the first `num_dims` dimensions select, whose elements are pieces of some bytes.
  static void copy(const char* from, const Selection* selections, const int64_t* strides,
                   int num_dims, int64_t piece, char*& out) {
    if (num_dims == 0) {
      std::memcpy(out, from, static_cast<size_t>(piece));
      out += piece;
      return;
    }
    const int64_t step = selections->step * *strides;
    if (num_dims > 1) {
      for (int64_t i = 0; i < selections->count; ++i)
        copy(from + i * step, selections + 1, strides + 1, num_dims - 1, piece, out);
      return;
    }
    switch (piece) {
      case 1:
        return copy_pieces<1>(from, step, selections->count, out);
      case 2:
        return copy_pieces<2>(from, step, selections->count, out);
      case 3:
        return copy_pieces<3>(from, step, selections->count, out);
      case 4:
        return copy_pieces<4>(from, step, selections->count, out);
      case 8:
        return copy_pieces<8>(from, step, selections->count, out);
      case 12:
        return copy_pieces<12>(from, step, selections->count, out);
      default:
        for (int64_t i = 0; i < selections->count; ++i, out += piece)
          std::memcpy(out, from + i * step, static_cast<size_t>(piece));
    }
  }

  template <int kPiece>
  static void copy_pieces(const char* from, int64_t step, int64_t count, char*& out) {
    for (int64_t i = 0; i < count; ++i, out += kPiece) std::memcpy(out, from + i * step, kPiece);
  }

  SubscriptArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("subscript", Subscript)

}  // namespace dali_core
