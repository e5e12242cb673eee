// Portable Network Graphics (PNG) Specification, third edition, W3C, sections 5.2 to 5.4.
#include "dali_core/native_io/image_decoding/png_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace dali_core {
namespace {

constexpr uint8_t kSignature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

// Table k advances the checksum by a byte that k more bytes follow, so that eight bytes take eight
// independent look-ups.
using ChecksumTables = std::array<std::array<uint32_t, 256>, 8>;

constexpr ChecksumTables make_tables() {
  ChecksumTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) ? 0xEDB88320u ^ (value >> 1) : value >> 1;
    tables[0][byte] = value;
  }
  for (int table = 1; table < 8; ++table)
    for (uint32_t byte = 0; byte < 256; ++byte)
      tables[table][byte] =
          tables[0][tables[table - 1][byte] & 0xFF] ^ (tables[table - 1][byte] >> 8);
  return tables;
}

constexpr ChecksumTables kTables = make_tables();

uint32_t little_endian(const uint8_t* bytes) {
  return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[3]} << 24;
}

uint32_t big_endian(const uint8_t* bytes) {
  return bytes[3] | uint32_t{bytes[2]} << 8 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[0]} << 24;
}

uint32_t checksum(const uint8_t* bytes, size_t count) {
  uint32_t value = 0xFFFFFFFFu;
  for (; count >= 8; bytes += 8, count -= 8) {
    const uint32_t low = value ^ little_endian(bytes);
    const uint32_t high = little_endian(bytes + 4);
    value = kTables[7][low & 0xFF] ^ kTables[6][low >> 8 & 0xFF] ^ kTables[5][low >> 16 & 0xFF] ^
            kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][high >> 8 & 0xFF] ^
            kTables[1][high >> 16 & 0xFF] ^ kTables[0][high >> 24];
  }
  for (; count > 0; ++bytes, --count) value = kTables[0][(value ^ *bytes) & 0xFF] ^ (value >> 8);
  return ~value;
}

// Chunks that decoders inflate although pixels do not need them. Each of them may cost the time of
// 8 MB, which is as far as libpng inflates one.
bool is_compressed_text(const uint8_t* name) {
  for (const char* other : {"zTXt", "iTXt", "iCCP"})
    if (std::memcmp(name, other, 4) == 0) return true;
  return false;
}
constexpr size_t kMaxDeflateRatio = 1032, kMaxTextBytes = 8'000'000, kMaxTextsBytes = 256'000'000;

// Names of chunks that decoding needs begin with a capital letter.
bool is_critical(const uint8_t* name) { return (name[0] & 0x20) == 0; }

}  // namespace

bool looks_like_png(const EncodedImage& encoded) {
  return encoded.size >= sizeof kSignature &&
         std::memcmp(encoded.data, kSignature, sizeof kSignature) == 0;
}

void check_png(const EncodedImage& encoded) {
  size_t position = sizeof kSignature, text_bytes = 0;
  while (true) {
    const size_t left = encoded.size - position;
    const uint8_t* chunk = encoded.data + position;  // length, name, content, checksum
    constexpr size_t kFrame = 12;
    const size_t length = left >= kFrame ? big_endian(chunk) : 0;
    if (left < kFrame || length > left - kFrame)
      throw std::runtime_error("a PNG file must be complete (got one that ends after " +
                               std::to_string(encoded.size) + " bytes). The file is damaged.");
    const uint8_t* name = chunk + 4;
    if (std::memcmp(name, "IEND", 4) == 0) return;
    if (is_critical(name) && checksum(name, length + 4) != big_endian(name + 4 + length))
      throw std::runtime_error(
          "a PNG file's checksums must fit its content (got a mismatch in the chunk at byte " +
          std::to_string(position) + "). The file is damaged.");
    if (is_compressed_text(name)) text_bytes += std::min(length * kMaxDeflateRatio, kMaxTextBytes);
    if (text_bytes > kMaxTextsBytes)
      throw std::runtime_error(
          "the texts in a PNG file must inflate to at most " + std::to_string(kMaxTextsBytes) +
          " bytes (got what may become more, up to byte " + std::to_string(position) +
          "). The file is made to cost time; save it anew.");
    position += kFrame + length;
  }
}

}  // namespace dali_core
