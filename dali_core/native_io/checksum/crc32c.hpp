// CRC-32C (Castagnoli), by the instruction of the processor or by tables of eight bytes at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace dali_core {

namespace crc32c_tables {

using Table = std::array<std::array<uint32_t, 256>, 8>;

constexpr Table make() {
  Table table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    // The polynomial, lowest power in the highest bit.
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0u);
    table[0][byte] = value;
  }
  for (size_t later = 1; later < 8; ++later)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t value = table[later - 1][byte];
      table[later][byte] = value >> 8 ^ table[0][value & 255];
    }
  return table;
}

inline constexpr Table kTable = make();

}  // namespace crc32c_tables

inline uint32_t crc32c_by_tables(uint32_t crc, const uint8_t* data, size_t size) {
  const auto& table = crc32c_tables::kTable;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= table[7 - i][word >> 8 * i & 255];
  }
  for (; size > 0; ++data, --size) crc = crc >> 8 ^ table[0][(crc ^ *data) & 255];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) inline uint32_t crc32c_by_instruction(uint32_t crc,
                                                                        const uint8_t* data,
                                                                        size_t size) {
  uint64_t value = crc;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    value = _mm_crc32_u64(value, word);
  }
  auto result = static_cast<uint32_t>(value);
  for (; size > 0; ++data, --size) result = _mm_crc32_u8(result, *data);
  return result;
}
#endif

inline uint32_t crc32c(const void* data, size_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~crc32c_by_instruction(~0u, bytes, size);
#endif
  return ~crc32c_by_tables(~0u, bytes, size);
}

}  // namespace dali_core
