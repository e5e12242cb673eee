// The contexts that a thread has entered, and its stream capture mode meanwhile.
#pragma once

#include <cuda.h>

namespace dali_core {

// Contexts that are entered one in the other. One that is the innermost already is not pushed
// again: a batch asks for memory, copies and kernels, and is in the context of its device all
// along.
//
// While another thread captures a graph in the global mode, which is usual, calls such as
// allocating memory and asking for an event would fail in this one, and spoil the capture. None of
// ours concerns a captured stream, so between entering and leaving a device the thread is in the
// relaxed mode.
struct EnteredContexts {
  static constexpr int kMost = 32;  // that are known; deeper ones are always pushed

  bool is_innermost(CUcontext context) const {
    return depth > 0 && depth < kMost && contexts[depth - 1] == context;
  }
  void add(CUcontext context) {
    if (depth < kMost) contexts[depth] = context;
    ++depth;
  }
  // Returns whether the innermost one had been pushed.
  bool remove() {
    --depth;
    return depth == 0 || depth >= kMost || contexts[depth] != contexts[depth - 1];
  }

  int depth = 0;
  CUcontext contexts[kMost] = {};
  bool is_changed = false;
  CUstreamCaptureMode before = CU_STREAM_CAPTURE_MODE_RELAXED;
};

inline EnteredContexts& entered_contexts() {
  static thread_local EnteredContexts entered;
  return entered;
}

}  // namespace dali_core
