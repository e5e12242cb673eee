// Preloaded into a process, delays each `read`, like a slow disk or network.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

static volatile unsigned delay_in_microseconds = 0;

void set_read_delay(unsigned microseconds) { delay_in_microseconds = microseconds; }

ssize_t read(int descriptor, void* target, size_t count) {
  static ssize_t (*real_read)(int, void*, size_t) = 0;
  if (!real_read) real_read = (ssize_t (*)(int, void*, size_t))dlsym(RTLD_NEXT, "read");
  if (delay_in_microseconds && count > 1) usleep(delay_in_microseconds);
  return real_read(descriptor, target, count);
}
