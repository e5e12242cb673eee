// Runs all tests, or those whose names contain the first argument.
#include <cstdio>
#include <exception>
#include <string>

#include "check.hpp"

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  int num_run = 0, num_failed = 0;
  for (const TestCase& test : all_tests()) {
    if (test.name.find(wanted) == std::string::npos) continue;
    ++num_run;
    try {
      test.body();
    } catch (const std::exception& error) {
      ++num_failed;
      std::printf("FAILED %s: %s\n", test.name.c_str(), error.what());
      std::fflush(stdout);
    }
  }
  std::printf("%d tests run, %d failed\n", num_run, num_failed);
  return num_failed || !num_run;
}
