#include "dali_core/kernels/jpeg/scan_index.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace dali_core {
namespace {

// Of an entry besides its points: nodes of the map, reference counts.
constexpr size_t kEntryBytes = 128;

size_t bytes_of(const ScanPoints& points) {
  return kEntryBytes + points.size() * sizeof(ScanPoint);
}

// Both halves of a product depend on all bits of both factors.
uint64_t folded_product(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

ScanIndexes::ScanIndexes(size_t max_bytes) : max_bytes_(max_bytes) {
  std::random_device random;
  for (uint64_t& word : secret_) word = uint64_t{random()} << 32 | random() | 1;
}

ScanIndexes::Key ScanIndexes::key_of(const EncodedImage& encoded) const {
  constexpr size_t kLanes = 4, kWords = 2 * kLanes, kStep = kWords * sizeof(uint64_t);
  uint64_t lanes[kLanes];
  std::copy_n(secret_, kLanes, lanes);
  const auto mix = [&](const uint8_t* bytes) {
    uint64_t words[kWords];
    std::memcpy(words, bytes, kStep);
    for (size_t i = 0; i < kLanes; ++i)
      lanes[i] = folded_product(words[2 * i] ^ lanes[i], words[2 * i + 1] ^ secret_[i + 1]);
  };
  size_t done = 0;
  for (; encoded.size - done >= kStep; done += kStep) mix(encoded.data + done);
  uint8_t rest[kStep] = {};
  std::copy_n(encoded.data + done, encoded.size - done, rest);
  mix(rest);
  uint64_t hash = encoded.size;
  for (size_t i = 0; i < kLanes; ++i)
    hash = folded_product(hash ^ lanes[i], secret_[kLanes - i]) + lanes[i];
  return Key{hash, encoded.size};
}

std::shared_ptr<const ScanPoints> ScanIndexes::find(const Key& key) const {
  const Shard& one = shard(key);
  const std::lock_guard<std::mutex> lock(one.mutex);
  const auto found = one.files.find(key);
  return found == one.files.end() ? nullptr : found->second;
}

void ScanIndexes::keep(const Key& key, std::shared_ptr<const ScanPoints> points) {
  Shard& one = shard(key);
  const std::lock_guard<std::mutex> lock(one.mutex);
  const auto found = one.files.find(key);
  const size_t before = found == one.files.end() ? 0 : bytes_of(*found->second);
  const size_t now = bytes_of(*points);
  if (now <= before) return;
  // Of threads that add at once, none exceeds the limit.
  if (bytes_.fetch_add(now - before) + now - before > max_bytes_) {
    bytes_.fetch_sub(now - before);
    is_full_.store(true, std::memory_order_relaxed);
    return;
  }
  if (found == one.files.end())
    one.files.emplace(key, std::move(points));
  else
    found->second = std::move(points);
}

}  // namespace dali_core
