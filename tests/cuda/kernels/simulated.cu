// Kernels for the tests of the simulated driver itself.
#define FILL_KERNEL(name, T)                                                  \
  extern "C" __global__ void name(T* output, long long size, T value) {       \
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x; \
    if (index < size) output[index] = value;                                  \
  }

namespace simulated_tests {

struct Scale {
  float factor;
  double offset;
};

FILL_KERNEL(simulated_fill_float, float)
FILL_KERNEL(simulated_fill_byte, unsigned char)

extern "C" __global__ void __launch_bounds__(256)
    simulated_scale(const float* __restrict__ input, float* output, int size, Scale scale) {
  for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < size;
       index += gridDim.x * blockDim.x) {
    output[index] = input[index] * scale.factor + (float)scale.offset;
  }
}

// Reads one element out of bounds if size is that of the input.
extern "C" __global__ void simulated_neighbours(const int* input, int* output, int size) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < size) output[index] = input[index + 1];
}

// Reads by addresses that are stored in memory.
extern "C" __global__ void simulated_gather(const int* const* addresses, int* output, int size) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < size) output[index] = addresses[index][0];
}

__device__ int sum_of_block(int* values, int size) {
  for (int half = size / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  __syncthreads();
  return values[0];
}

// The sum of each block, whose size is a power of two, and the total.
extern "C" __global__ void simulated_sum(const int* input, int* sums, int* total) {
  extern __shared__ int values[];
  __shared__ int first;
  const int place = threadIdx.x;
  values[place] = input[blockIdx.x * blockDim.x + place];
  const int sum = sum_of_block(values, blockDim.x);
  if (place == (int)blockDim.x - 1) first = sum;
  __syncthreads();
  if (place == 0) {
    sums[blockIdx.x] = first;
    atomicAdd(total, first);
  }
}

// The same for blocks of whole warps, without dynamic shared memory.
extern "C" __global__ void simulated_warp_sum(const int* input, int* sums) {
  __shared__ int parts[32];
  int sum = input[blockIdx.x * blockDim.x + threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
  const unsigned voters = __ballot_sync(0xffffffff, threadIdx.x % 32 < 3);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = voters == 7 ? sum : -1;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (int warp = 0; warp < (int)blockDim.x / 32; ++warp) sum += parts[warp];
  sums[blockIdx.x] = sum;
}

}  // namespace simulated_tests
