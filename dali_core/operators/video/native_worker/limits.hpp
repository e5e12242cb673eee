// Resource limits of a worker, so that the time for any file is bounded.
#pragma once

namespace dali_core {

// Lets the timers end this process, and leaves no core file behind.
void prepare_limits();

// Ends this process after so much processor time; 0 for no limit. A codec that waits for nothing at
// all is ended as well, though later: other processes may keep it waiting.
void limit_seconds(double seconds);

// The same for decoding ahead of requests, by another signal: the next request is not the cause.
void limit_ahead_seconds(double seconds);

}  // namespace dali_core
