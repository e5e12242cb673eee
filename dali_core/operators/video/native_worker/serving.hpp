// Answers requests of the process that started this one, until that closes its end or is gone.
#pragma once

namespace dali_core {

// Requests for frames, as worker/serving.py: by a socket that keeps messages whole. Paths, numbers
// of frames and pixels are in memory that both processes see.
int serve_frames();

// Requests for indices, as worker/indexing.py: paths from standard input, indices or errors to
// standard output. `seconds` is the processor time that a request for nothing may take.
int serve_indices(double seconds);

}  // namespace dali_core
