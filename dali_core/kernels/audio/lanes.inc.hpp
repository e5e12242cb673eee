// Between contiguous numbers of each lane and rows of lanes, for every instruction set; without
// guard. After fourier_kernels.inc.hpp.

typedef float Quad __attribute__((vector_size(16), aligned(4), may_alias));

#if defined(__clang__)
#define DC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int QuadIndex __attribute__((vector_size(16)));
#define DC_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, QuadIndex{__VA_ARGS__})
#endif

inline void transpose_quads(Quad& a, Quad& b, Quad& c, Quad& d) {
  const Quad ab_low = DC_SHUFFLE(a, b, 0, 4, 1, 5);
  const Quad ab_high = DC_SHUFFLE(a, b, 2, 6, 3, 7);
  const Quad cd_low = DC_SHUFFLE(c, d, 0, 4, 1, 5);
  const Quad cd_high = DC_SHUFFLE(c, d, 2, 6, 3, 7);
  a = DC_SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
  b = DC_SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
  c = DC_SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
  d = DC_SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
}
#undef DC_SHUFFLE

// `rows[i]` becomes number `i` of each lane; times `factors[i]`, if there are any.
inline void gather_lanes(const float* const* lanes, const float* factors, int64_t count,
                         Lanes* rows) {
  float* const target = reinterpret_cast<float*>(rows);
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    Quad factor{1, 1, 1, 1};
    if (factors != nullptr) factor = *reinterpret_cast<const Quad*>(factors + i);
    for (int64_t lane = 0; lane < kLanes; lane += 4) {
      Quad q[4];
      for (int k = 0; k < 4; ++k)
        q[k] = *reinterpret_cast<const Quad*>(lanes[lane + k] + i) * factor;
      transpose_quads(q[0], q[1], q[2], q[3]);
      for (int k = 0; k < 4; ++k) *reinterpret_cast<Quad*>(target + (i + k) * kLanes + lane) = q[k];
    }
  }
  for (; i < count; ++i)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      target[i * kLanes + lane] = lanes[lane][i] * (factors != nullptr ? factors[i] : 1.0f);
}

// The first `num_lanes` lanes of `count` rows go to numbers `lane_step` apart.
inline void scatter_lanes(const Lanes* rows, int64_t count, int64_t num_lanes, float* out,
                          int64_t lane_step) {
  const float* const from = reinterpret_cast<const float*>(rows);
  int64_t lane = 0;
  for (; lane + 4 <= num_lanes; lane += 4) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      Quad q[4];
      for (int k = 0; k < 4; ++k)
        q[k] = *reinterpret_cast<const Quad*>(from + (i + k) * kLanes + lane);
      transpose_quads(q[0], q[1], q[2], q[3]);
      for (int k = 0; k < 4; ++k) *reinterpret_cast<Quad*>(out + (lane + k) * lane_step + i) = q[k];
    }
    for (; i < count; ++i)
      for (int k = 0; k < 4; ++k) out[(lane + k) * lane_step + i] = from[i * kLanes + lane + k];
  }
  for (; lane < num_lanes; ++lane)
    for (int64_t i = 0; i < count; ++i) out[lane * lane_step + i] = from[i * kLanes + lane];
}
