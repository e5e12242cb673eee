#include "dali_core/operators/video/native_worker/limits.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace dali_core {
namespace {

constexpr double kWaitingPerSecond = 10;
constexpr double kMost = 1e8;

void set_timer(__itimer_which which, double seconds) {
  seconds = std::clamp(seconds, 0.0, kMost);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(which, &timer, nullptr);
}

void set_alarm(double seconds) {
  seconds = std::clamp(seconds, 0.0, kMost);
  ::alarm(static_cast<unsigned>(std::ceil(kWaitingPerSecond * seconds)));
}

}  // namespace

void prepare_limits() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  for (const int number : {SIGALRM, SIGPROF, SIGVTALRM}) ::signal(number, SIG_DFL);
  // The terminal's signals are for the program that started this one.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
}

void limit_seconds(double seconds) {
  set_timer(ITIMER_PROF, seconds);
  set_alarm(seconds);
}

void limit_ahead_seconds(double seconds) {
  set_timer(ITIMER_PROF, 0);
  set_timer(ITIMER_VIRTUAL, seconds);
  set_alarm(seconds);
}

}  // namespace dali_core
