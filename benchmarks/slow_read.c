// Preloaded into a process, delays each `read` and `pread`, like a slow disk or network.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned delay_in_microseconds = 0;

static atomic_llong delayed = 0;

static long long nanoseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// For how long calls have been delayed so far, over all threads.
long long delayed_nanoseconds(void) { return atomic_load(&delayed); }

void set_read_delay(unsigned microseconds) { delay_in_microseconds = microseconds; }

static void delay(size_t count) {
  if (!delay_in_microseconds || count <= 1) return;
  const long long begin = nanoseconds_now();
  usleep(delay_in_microseconds);
  atomic_fetch_add(&delayed, nanoseconds_now() - begin);
}

ssize_t read(int descriptor, void* target, size_t count) {
  static ssize_t (*real)(int, void*, size_t) = 0;
  if (!real) real = (ssize_t (*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  delay(count);
  return real(descriptor, target, count);
}

ssize_t pread(int descriptor, void* target, size_t count, off_t offset) {
  static ssize_t (*real)(int, void*, size_t, off_t) = 0;
  if (!real) real = (ssize_t (*)(int, void*, size_t, off_t))dlsym(RTLD_NEXT, "pread");
  delay(count);
  return real(descriptor, target, count, offset);
}

ssize_t pread64(int descriptor, void* target, size_t count, off64_t offset) {
  return pread(descriptor, target, count, offset);
}
