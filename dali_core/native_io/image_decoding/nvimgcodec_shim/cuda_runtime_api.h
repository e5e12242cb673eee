/* Stands in for the CUDA runtime's header, of which nvimgcodec.h needs this one name: decoding on
 * the host must not require a CUDA toolkit to build. */
#ifndef DALI_CORE_NVIMGCODEC_SHIM_CUDA_RUNTIME_API_H
#define DALI_CORE_NVIMGCODEC_SHIM_CUDA_RUNTIME_API_H

typedef struct CUstream_st* cudaStream_t;

#endif
