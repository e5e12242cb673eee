// A minimal test framework.
#pragma once

#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct TestCase {
  std::string name;
  std::function<void()> body;
};

inline std::vector<TestCase>& all_tests() {
  static std::vector<TestCase> tests;
  return tests;
}

struct RegisterTest {
  RegisterTest(std::string name, std::function<void()> body) {
    all_tests().push_back({std::move(name), std::move(body)});
  }
};

#define TEST(name)                                               \
  static void name();                                            \
  static const RegisterTest registration_of_##name(#name, name); \
  static void name()

struct CheckFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void check(bool holds, const std::string& what, const char* file, int line) {
  if (!holds) throw CheckFailed(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

template <typename A, typename B>
void check_equal(const A& actual, const B& expected, const char* what, const char* file, int line) {
  std::ostringstream text;
  text << what << " must be " << expected << " (got " << actual << ")";
  check(actual == expected, text.str(), file, line);
}

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(actual, expected) check_equal((actual), (expected), #actual, __FILE__, __LINE__)
#define CHECK_THROWS(expression, Error)                                   \
  do {                                                                    \
    bool thrown = false;                                                  \
    try {                                                                 \
      (void)(expression);                                                 \
    } catch (const Error&) {                                              \
      thrown = true;                                                      \
    }                                                                     \
    check(thrown, #expression " must throw " #Error, __FILE__, __LINE__); \
  } while (false)
