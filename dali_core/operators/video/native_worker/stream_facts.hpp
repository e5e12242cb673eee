// Properties of a video stream that its container states before any packet is read.
#pragma once

#include <cstdint>

#include "dali_core/operators/video/native_worker/container.hpp"
#include "dali_core/operators/video/native_worker/packed_index.hpp"

namespace dali_core {

// Fills in all that does not depend on packets. Throws VideoFileError.
void describe_stream(const Container& container, PackedIndex& index);

// Throws VideoFileError if an AVI or Matroska file is shorter than its header says.
void check_size(const Container& container);

// How long a Matroska file says that the stream is; 0 if it does not.
double expected_seconds(const Container& container);

// Whether times of packets are only their numbers in the order in which they are decoded. AVI files
// have no times, and FFmpeg finds those of MPEG-4 in the stream itself, but not these.
bool numbers_packets(const Container& container);

// Frames per second, in lowest terms, as the header says or FFmpeg assumes.
AVRational frame_rate(const Container& container);

}  // namespace dali_core
