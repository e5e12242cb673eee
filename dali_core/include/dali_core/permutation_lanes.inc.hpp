// Permutation's Feistel network for many numbers at a time: included for every instruction set, see
// simd.hpp. Philox is written out, so that each step is one for all lanes.

constexpr int kLanesAtOnce = 16;

// The first number of Philox blocks with the counters (right, round, epoch, epoch >> 32).
inline void philox_lanes(const uint32_t* right, uint32_t round, uint64_t epoch, uint32_t key0,
                         uint32_t key1, uint32_t* mixed) {
  uint32_t c0[kLanesAtOnce], c1[kLanesAtOnce], c2[kLanesAtOnce], c3[kLanesAtOnce];
  for (int i = 0; i < kLanesAtOnce; ++i) {
    c0[i] = right[i];
    c1[i] = round;
    c2[i] = static_cast<uint32_t>(epoch);
    c3[i] = static_cast<uint32_t>(epoch >> 32);
  }
  for (int step = 0; step < 10; ++step) {
    for (int i = 0; i < kLanesAtOnce; ++i) {
      const uint64_t product0 = uint64_t{0xD2511F53u} * c0[i];
      const uint64_t product1 = uint64_t{0xCD9E8D57u} * c2[i];
      c0[i] = static_cast<uint32_t>(product1 >> 32) ^ c1[i] ^ key0;
      c1[i] = static_cast<uint32_t>(product1);
      c2[i] = static_cast<uint32_t>(product0 >> 32) ^ c3[i] ^ key1;
      c3[i] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kLanesAtOnce; ++i) mixed[i] = c0[i];
}

// Encrypts `count` numbers, a multiple of the lanes.
inline void encrypt_lanes(uint64_t* values, int count, uint32_t half_bits, uint32_t mask,
                          uint64_t epoch, uint32_t key0, uint32_t key1) {
  for (int start = 0; start < count; start += kLanesAtOnce) {
    uint64_t* lanes = values + start;
    uint32_t left[kLanesAtOnce], right[kLanesAtOnce], mixed[kLanesAtOnce];
    for (int i = 0; i < kLanesAtOnce; ++i) {
      left[i] = static_cast<uint32_t>(lanes[i] >> half_bits) & mask;
      right[i] = static_cast<uint32_t>(lanes[i]) & mask;
    }
    for (uint32_t round = 0; round < 8; ++round) {
      philox_lanes(right, round, epoch, key0, key1, mixed);
      for (int i = 0; i < kLanesAtOnce; ++i) {
        const uint32_t next = left[i] ^ (mixed[i] & mask);
        left[i] = right[i];
        right[i] = next;
      }
    }
    for (int i = 0; i < kLanesAtOnce; ++i)
      lanes[i] = (static_cast<uint64_t>(left[i]) << half_bits) | right[i];
  }
}
