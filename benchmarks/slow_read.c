// Preloaded into a process, delays each `read`, like a slow disk or network.
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

ssize_t read(int descriptor, void* target, size_t count) {
  static ssize_t (*real_read)(int, void*, size_t) = 0;
  if (!real_read) real_read = (ssize_t (*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  if (delay_in_microseconds && count > 1) {
    const long long begin = nanoseconds_now();
    usleep(delay_in_microseconds);
    atomic_fetch_add(&delayed, nanoseconds_now() - begin);
  }
  return real_read(descriptor, target, count);
}
