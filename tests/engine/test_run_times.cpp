// Durations are counted in classes, from which percentiles are found to 5 %.
#include "check.hpp"
#include "run_times.hpp"

using namespace dali_core;

TEST(each_class_of_durations_begins_where_the_last_one_ends) {
  int last = 0;
  for (int64_t duration = 0; duration < 100'000; ++duration) {
    const int now = duration_class(duration);
    CHECK(now == last || now == last + 1);
    last = now;
  }
}

TEST(durations_of_one_class_differ_by_an_eighth_at_most) {
  int64_t first = 64;
  for (int64_t duration = 64; duration < 5'000'000; duration += 7) {
    if (duration_class(duration) != duration_class(first)) first = duration;
    CHECK(8 * (duration - first) <= first);
  }
}

TEST(every_duration_has_a_class) {
  CHECK_EQUAL(duration_class(0), 0);
  CHECK_EQUAL(duration_class(63), 0);
  CHECK_EQUAL(duration_class(64), 1);
  CHECK_EQUAL(duration_class((int64_t{1} << 36) - 1), kNumDurationClasses - 2);
  CHECK_EQUAL(duration_class(int64_t{1} << 36), kNumDurationClasses - 1);
  CHECK_EQUAL(duration_class(INT64_MAX), kNumDurationClasses - 1);
}

TEST(wait_in_progress_is_counted) {
  ThreadTimes times(1);
  const int64_t before = nanoseconds_now();
  times.begin_wait(WaitingFor::kFiles);
  const int64_t now = nanoseconds_now() + 1000;
  CHECK(times.waited(WaitingFor::kFiles, now) >= 1000);
  CHECK_EQUAL(times.waited(WaitingFor::kSteps, now), 0);
  times.end_wait();
  const int64_t total = times.waited(WaitingFor::kFiles, now + 5'000'000'000);
  CHECK(total >= 0 && total <= nanoseconds_now() - before);
}

TEST(laps_and_waits_do_not_overlap) {
  ThreadTimes times(2);
  const int64_t before = nanoseconds_now();
  times.begin_lap();
  times.end_lap(0, 0, 0);
  times.begin_wait(WaitingFor::kFiles);
  while (nanoseconds_now() - before < 2'000'000) {
  }
  times.end_wait();
  times.end_lap(1, 0, 0);
  times.end_lap(0, 0, 1);
  const int64_t now = nanoseconds_now();
  const int64_t in_laps =
      times.operators[0].nanoseconds.get() + times.operators[1].nanoseconds.get();
  const int64_t waited = times.waited(WaitingFor::kFiles, now);
  CHECK(waited > 0);
  CHECK(in_laps >= 0 && in_laps + waited <= now - before);
}
