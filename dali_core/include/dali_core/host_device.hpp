// Marks a rule that the host compiler and the device compiler both build from the same text.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DC_HOST_DEV __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define DC_HOST_DEV inline __attribute__((always_inline))
#else
#define DC_HOST_DEV inline
#endif
