// Reducing dimensions of a tensor to one number: which elements belong to which output, and in
// which order they are added up. It depends on the shape alone, so results are the same for all
// instruction sets, and on devices:
//
// - The elements of an output, as they follow each other in memory, go to its lanes in turn: a row
//   is what adds one element to each lane. Of four rows of a segment, the elements of a lane are
//   added to each other first: (0 + 1) + (2 + 3).
// - After `kChunkRows` rows, or as many segments as have so many, lanes are joined pairwise, the
//   upper half to the lower one, and others begin. That is a chunk.
// - Chunks go to `kChunkLanes` lanes in turn, which are joined in the same way.
//
// Short runs have one lane, and no elements of it are added to each other first.
#pragma once

#include <cstdint>

namespace dali_core {

// What is added up for each output. Moments are sums and sums of squares.
enum class Fold { kSum, kSquares, kDeviations, kMin, kMax, kMoments };

constexpr int64_t kChunkRows = 128;
constexpr int64_t kChunkLanes = 4;
constexpr int64_t kMostLanes = 128;  // of all outputs of a block

constexpr int kMostLoops = 8;  // as many as dimensions

// A tensor as nested loops around a block. A block gives `outputs` contiguous results, each of
// `terms` contiguous elements (`runs`), or that are rows of `outputs` elements.
struct ReductionPlan {
  struct Loop {
    int64_t extent;
    int64_t stride;
  };
  bool runs = false;
  int64_t terms = 1;
  int64_t outputs = 1;
  int num_kept = 0;  // loops around the block, outermost first
  int num_reduced = 0;
  Loop kept[kMostLoops];
  Loop reduced[kMostLoops];

  int64_t num_outputs = 1;  // of the whole tensor
  int64_t num_terms = 1;    // elements that one output stands for

  // The order of sums. A segment is what a block has of an output.
  int64_t lanes = 1;  // a power of 2
  int64_t segments = 1;
  int64_t chunk_segments = 1;  // of a chunk, unless segments have several chunks
  int64_t segment_chunks = 1;

  int64_t num_chunks() const {
    return (segments + chunk_segments - 1) / chunk_segments * segment_chunks;
  }
};

}  // namespace dali_core
