#include "dali_core/kernels/jpeg/jpeg_cost.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "dali_core/kernels/jpeg/jpeg_segments.hpp"

namespace dali_core {
namespace {

// Encoders write about ten scans, of which few are of all blocks. More are reasonable if they come
// with data, and a bit of data takes no longer to decode than a block without any.
constexpr int64_t kVisitsOfBlock = 20, kVisitsOfByte = 8, kVisitsOfFile = int64_t{1} << 20;
constexpr int64_t kMaxScans = 500;
constexpr int64_t kBlockSide = 8;

int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

// Counts the blocks of a frame.
class BlockCounter {
 public:
  explicit BlockCounter(const JpegFrame& frame) : frame_(frame) {
    for (const JpegComponent& part : frame.components) {
      horizontal_ = std::max(horizontal_, part.horizontal);
      vertical_ = std::max(vertical_, part.vertical);
    }
  }

  int64_t of_image() const {
    int64_t blocks = 0;
    for (const JpegComponent& part : frame_.components) blocks += of_component(part);
    return blocks;
  }

  // Of a scan, which visits whole groups of blocks if it has several components.
  int64_t of_scan(const std::vector<int>& identifiers) const {
    int64_t blocks = 0, in_group = 0;
    for (const int identifier : identifiers) {
      // Components should differ in their identifiers. If they do not, the larger one counts.
      int64_t most_blocks = 0, most_in_group = 0;
      for (const JpegComponent& part : frame_.components) {
        if (part.identifier != identifier) continue;
        most_blocks = std::max(most_blocks, of_component(part));
        most_in_group = std::max(most_in_group, int64_t{part.horizontal} * part.vertical);
      }
      blocks += most_blocks;
      in_group += most_in_group;
    }
    if (identifiers.size() == 1) return blocks;
    return divide_up(frame_.height, kBlockSide * vertical_) *
           divide_up(frame_.width, kBlockSide * horizontal_) * in_group;
  }

 private:
  int64_t of_component(const JpegComponent& part) const {
    return divide_up(frame_.height * part.vertical, kBlockSide * vertical_) *
           divide_up(frame_.width * part.horizontal, kBlockSide * horizontal_);
  }

  const JpegFrame& frame_;
  int horizontal_ = 1, vertical_ = 1;  // the largest sampling factors
};

}  // namespace

JpegCost jpeg_cost(const EncodedImage& encoded) {
  JpegCost cost;
  JpegSegments segments(encoded);
  std::optional<JpegSegment> segment = segments.next();
  while (segment && !segment->starts_frame()) segment = segments.next();
  const auto frame = segment ? read_jpeg_frame(*segment) : std::nullopt;
  if (!frame) return cost;
  const BlockCounter count(*frame);
  cost.height = frame->height;
  cost.width = frame->width;
  const int64_t bytes = static_cast<int64_t>(encoded.size);
  cost.blocks = count.of_image();
  cost.most_visits = kVisitsOfFile + kVisitsOfBlock * cost.blocks + kVisitsOfByte * bytes;
  // A Huffman code has at least one bit, and each block has at least one code.
  cost.has_least_bytes = frame->is_arithmetic() || cost.blocks / 8 <= bytes;
  while (cost.visits <= cost.most_visits && cost.scans <= kMaxScans &&
         (segment = segments.next())) {
    if (!segment->starts_scan()) continue;
    const std::vector<int> identifiers = read_jpeg_scan(*segment);
    ++cost.scans;
    cost.visits += count.of_scan(identifiers);
    // No other scan is decoded if the first one has everything.
    if (cost.scans == 1 && frame->is_sequential() && identifiers.size() == frame->components.size())
      break;
  }
  return cost;
}

void check_jpeg_cost(const EncodedImage& encoded) {
  const JpegCost cost = jpeg_cost(encoded);
  if (cost.most_visits == 0) return;
  check_image_size(cost.height, cost.width, encoded.size);
  if (!cost.has_least_bytes)
    throw std::runtime_error("a JPEG file must be long enough for its pixels (got " +
                             std::to_string(cost.height) + " x " + std::to_string(cost.width) +
                             " pixels in " + std::to_string(encoded.size) +
                             " bytes). The file is damaged.");
  if (cost.scans > kMaxScans)
    throw std::runtime_error("a JPEG file must have at most " + std::to_string(kMaxScans) +
                             " scans (got more). The file is made to cost time; save it anew.");
  if (cost.visits > cost.most_visits)
    throw std::runtime_error(
        "the scans of a JPEG file must visit its blocks at most " +
        std::to_string(cost.most_visits) + " times, which its " + std::to_string(cost.blocks) +
        " blocks and " + std::to_string(encoded.size) + " bytes allow for (got more with scan " +
        std::to_string(cost.scans) + "). The file is made to cost time; save it anew.");
}

}  // namespace dali_core
