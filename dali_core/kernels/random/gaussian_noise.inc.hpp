// Inner loop of fn.noise.gaussian, compiled for every instruction set (see simd.hpp), hence without
// guard.

// Draw number `first + i` at place i: the same numbers as from `philox4x32`, a vector at a time.
inline void draw_bits(const DrawKey& draw, uint32_t first, uint32_t (*__restrict words)[kDraws]) {
  for (int i = 0; i < kDraws; ++i) {
    uint32_t a = first + static_cast<uint32_t>(i), b = draw.counter[1];
    uint32_t c = draw.counter[2], d = draw.counter[3];
    uint32_t key0 = draw.key0, key1 = draw.key1;
    for (int round = 0; round < 10; ++round) {
      const uint64_t product0 = uint64_t{0xD2511F53u} * a;
      const uint64_t product1 = uint64_t{0xCD9E8D57u} * c;
      a = static_cast<uint32_t>(product1 >> 32) ^ b ^ key0;
      b = static_cast<uint32_t>(product1);
      c = static_cast<uint32_t>(product0 >> 32) ^ d ^ key1;
      d = static_cast<uint32_t>(product0);
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    words[0][i] = a;
    words[1][i] = b;
    words[2][i] = c;
    words[3][i] = d;
  }
}

inline void draw_normals(const DrawKey& draw, uint32_t first, float* __restrict normals) {
  alignas(64) uint32_t words[4][kDraws];
  draw_bits(draw, first, words);
  for (int pair = 0; pair < 2; ++pair) {
    float* const half = normals + 2 * pair * kDraws;
    for (int i = 0; i < kDraws; ++i) {
      const NormalFloats made = normal_floats(words[2 * pair][i], words[2 * pair + 1][i]);
      half[i] = made.first;
      half[i + kDraws] = made.second;
    }
  }
}

// Elements are converted to `Number` and back, several blocks at a time.
template <typename Number>
inline void add_noise(const void* in, void* out, DataType type, int64_t count, float mean,
                      float stddev, const DrawKey& draw) {
  constexpr DataType number_type = data_type_of<Number>();
  constexpr int64_t most = 4 * kNormalsInBlock;
  alignas(64) float normals[kNormalsInBlock];
  alignas(64) Number numbers[most];
  uint32_t first = 0;
  for (int64_t start = 0; start < count; start += most) {
    const int64_t length = count - start < most ? count - start : most;
    convert_elements(element_at(in, type, start), type, numbers, number_type, length);
    for (int64_t block = 0; block < length; block += kNormalsInBlock, first += kDraws) {
      draw_normals(draw, first, normals);
      const int64_t rest = length - block;
      const int64_t in_block = rest < kNormalsInBlock ? rest : kNormalsInBlock;
      for (int64_t i = 0; i < in_block; ++i)
        numbers[block + i] = with_noise(numbers[block + i], normals[i], mean, stddev);
    }
    convert_elements(numbers, number_type, element_at(out, type, start), type, length);
  }
}

inline void add_noise_of_type(const void* in, void* out, DataType type, int64_t count, float mean,
                              float stddev, const DrawKey& draw) {
  // Numbers of 32 bits and more would lose digits as float.
  if (size_of(type) > 2 && type != DataType::kFloat)
    add_noise<double>(in, out, type, count, mean, stddev, draw);
  else
    add_noise<float>(in, out, type, count, mean, stddev, draw);
}
