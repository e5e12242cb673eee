#include "dali_core/operators/video/native_worker/packed_index.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace dali_core {
namespace {

constexpr char kMagic[] = "dcvidx05";  // changes with the format and with the rules of demuxing
constexpr size_t kCodecBytes = 16;

struct Header {
  char magic[8];
  uint32_t checksum;
  uint32_t flags;
  int64_t numbers[8];
  char codec[kCodecBytes];
  int64_t unused[3];
};
static_assert(sizeof(Header) == 120);

// CRC-32 of ISO 3309, as in zlib.
uint32_t crc32(uint32_t checksum, const void* data, size_t size) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0u);
      made[i] = value;
    }
    return made;
  }();
  checksum = ~checksum;
  const auto* bytes = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < size; ++i)
    checksum = (checksum >> 8) ^ table[(checksum ^ bytes[i]) & 0xff];
  return ~checksum;
}

uint32_t checksum_of(const Header& header, const void* body, size_t size) {
  uint32_t checksum = crc32(0, &header.flags, sizeof header.flags);
  checksum = crc32(checksum, header.numbers, sizeof header.numbers);
  checksum = crc32(checksum, header.codec, sizeof header.codec);
  return crc32(checksum, body, size);
}

template <class T>
void append(std::string& bytes, const std::vector<T>& part) {
  if (!part.empty())
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size() * sizeof(T));
}

template <class T>
void take(const char*& at, size_t count, std::vector<T>& part) {
  part.resize(count);
  if (count > 0) std::memcpy(part.data(), at, count * sizeof(T));
  at += count * sizeof(T);
}

bool are_below(const std::vector<int32_t>& numbers, int64_t end) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [end](int32_t number) { return number >= 0 && number < end; });
}

}  // namespace

std::string PackedIndex::to_bytes() const {
  std::string body;
  for (const auto* part : {&pts, &key_pts, &key_dts}) append(body, *part);
  for (const auto* part : {&positions, &keyframes, &key_positions}) append(body, *part);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  header.flags = flags;
  const int64_t numbers[8] = {coded_width,
                              coded_height,
                              orientation,
                              time_base_num,
                              time_base_den,
                              num_packets,
                              static_cast<int64_t>(pts.size()),
                              static_cast<int64_t>(keyframes.size())};
  std::memcpy(header.numbers, numbers, sizeof numbers);
  std::memcpy(header.codec, codec.data(), std::min(codec.size(), kCodecBytes));
  header.checksum = checksum_of(header, body.data(), body.size());
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

std::optional<PackedIndex> PackedIndex::from_bytes(const void* data, size_t size) {
  Header header;
  if (size < sizeof header) return std::nullopt;
  std::memcpy(&header, data, sizeof header);
  const int64_t packets = header.numbers[5], frames = header.numbers[6], keys = header.numbers[7];
  constexpr int64_t kMost = INT32_MAX;
  if (std::memcmp(header.magic, kMagic, sizeof header.magic) != 0 || packets < 0 || frames < 1 ||
      keys < 1 || packets > kMost || frames > kMost || keys > kMost)
    return std::nullopt;
  const size_t body = size - sizeof header;
  const char* at = static_cast<const char*>(data) + sizeof header;
  if (body != static_cast<size_t>(frames) * 12 + static_cast<size_t>(keys) * 24 ||
      checksum_of(header, at, body) != header.checksum)
    return std::nullopt;
  PackedIndex index;
  index.codec.assign(header.codec, ::strnlen(header.codec, sizeof header.codec));
  index.coded_width = header.numbers[0];
  index.coded_height = header.numbers[1];
  index.orientation = header.numbers[2];
  index.time_base_num = header.numbers[3];
  index.time_base_den = header.numbers[4];
  index.num_packets = packets;
  index.flags = header.flags;
  take(at, static_cast<size_t>(frames), index.pts);
  for (auto* part : {&index.key_pts, &index.key_dts}) take(at, static_cast<size_t>(keys), *part);
  take(at, static_cast<size_t>(frames), index.positions);
  for (auto* part : {&index.keyframes, &index.key_positions})
    take(at, static_cast<size_t>(keys), *part);
  if (!are_below(index.positions, packets) || !are_below(index.keyframes, frames) ||
      !are_below(index.key_positions, packets) || index.keyframes[0] != 0 ||
      index.time_base_den < 1 || index.coded_width < 1 || index.coded_height < 1)
    return std::nullopt;
  return index;
}

}  // namespace dali_core
