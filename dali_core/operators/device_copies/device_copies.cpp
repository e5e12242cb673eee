// DataNode.gpu() and DataNode.cpu(): asynchronous copies. A call of the driver costs as much as a
// copy of some ten kilobytes, so more than a few pieces are gathered by one kernel.
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/copy/device_row_copies.hpp"

namespace dali_core {
namespace {

constexpr size_t kFewPieces = 4;

size_t bytes_of(const Tensor& tensor) { return static_cast<size_t>(tensor.num_bytes()); }

// Samples of the input that follow each other in memory, as one.
struct Piece {
  int first, last;
  size_t bytes;
};

std::vector<Piece> pieces_of(const DeviceBatch& batch) {
  std::vector<Piece> pieces;
  for (int i = 0; i < batch.size(); ++i) {
    const Tensor& input = batch.input(0, i);
    if (input.num_bytes() == 0) continue;
    if (!pieces.empty()) {
      Piece& last = pieces.back();
      const Tensor& first = batch.input(0, last.first);
      if (first.storage == input.storage && first.device == input.device &&
          first.as<char>() + last.bytes == input.as<char>()) {
        last.bytes += bytes_of(input);
        last.last = i;
        continue;
      }
    }
    pieces.push_back({i, i, bytes_of(input)});
  }
  return pieces;
}

}  // namespace

class ToDevice : public Operator {
 public:
  explicit ToDevice(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      if (input.device == batch.device())
        batch.forward(0, i, input);
      else
        batch.declare(0, i, input.type, input.shape, input.layout);
    });
    batch.allocate();
    const std::vector<Piece> pieces = pieces_of(batch);
    RowCopies by_kernel;
    for (const Piece& piece : pieces) {
      const Tensor& input = batch.input(0, piece.first);
      if (input.device == batch.device()) continue;
      if (pieces.size() > kFewPieces && batch.is_pinned(input)) {
        spread(batch, piece, input.as<char>(), by_kernel);
        batch.keep_for_kernels(input.storage);
      } else if (is_contiguous_on_device(batch, piece)) {
        batch.copy_to_device(batch.output(0, piece.first).data, input.data, piece.bytes,
                             input.storage);
      } else {
        char* const staged = static_cast<char*>(batch.scratch(piece.bytes));
        batch.copy_to_device(staged, input.data, piece.bytes, input.storage);
        spread(batch, piece, staged, by_kernel);
      }
    }
    by_kernel.launch(batch);
  }

 private:
  static bool is_contiguous_on_device(DeviceBatch& batch, const Piece& piece) {
    const Tensor& last = batch.output(0, piece.last);
    return last.as<char>() + bytes_of(last) ==
           batch.output(0, piece.first).as<char>() + piece.bytes;
  }

  // Copies the samples of a piece to their places.
  static void spread(DeviceBatch& batch, const Piece& piece, const char* from, RowCopies& copies) {
    if (is_contiguous_on_device(batch, piece)) {
      copies.add(from, batch.output(0, piece.first).data, static_cast<int64_t>(piece.bytes));
      return;
    }
    for (int i = piece.first; i <= piece.last; ++i) {
      const Tensor& output = batch.output(0, i);
      if (output.num_bytes() == 0) continue;
      copies.add(from, output.data, output.num_bytes());
      from += output.num_bytes();
    }
  }
};

class ToHost : public Operator {
 public:
  explicit ToHost(const OperatorConfig&) {}

  void plan(DeviceBatch& batch) const override {
    if (batch.size() == 0) return;
    size_t total = 0;
    bool is_padded = false;
    for (int i = 0; i < batch.size(); ++i) {
      const size_t bytes = bytes_of(batch.input(0, i));
      is_padded |= padded(bytes) != bytes;
      total += padded(bytes);
    }
    const std::vector<Piece> pieces = pieces_of(batch);
    const bool is_one = pieces.size() == 1 && !is_padded;
    const bool is_gathered = !is_one && batch.size() > static_cast<int>(kFewPieces);
    const std::shared_ptr<void> block = batch.allocate_host(total);
    char* const gathered = is_gathered ? static_cast<char*>(batch.scratch(total)) : nullptr;
    RowCopies by_kernel;
    size_t position = 0;
    for (int i = 0; i < batch.size(); ++i) {
      const Tensor& input = batch.input(0, i);
      if (is_one && i == pieces.front().first)
        batch.copy_to_host(static_cast<char*>(block.get()) + position, input.data, total - position,
                           input.storage);
      Tensor& output = batch.forward(0, i, input);
      output.storage = block;
      output.data = static_cast<char*>(block.get()) + position;
      output.device = kHost;
      if (is_gathered)
        by_kernel.add(input.data, gathered + position, input.num_bytes());
      else if (!is_one)
        batch.copy_to_host(output.data, input.data, bytes_of(input), input.storage);
      position += padded(bytes_of(input));
    }
    by_kernel.launch(batch);
    if (is_gathered) batch.copy_to_host(block.get(), gathered, total, block);
  }

 private:
  static size_t padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
};

DALI_CORE_REGISTER_OPERATOR("device_copies.to_device", ToDevice)
DALI_CORE_REGISTER_OPERATOR("device_copies.to_host", ToHost)

}  // namespace dali_core
