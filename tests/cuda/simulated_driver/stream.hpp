// Streams: queues of work, each with its own thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "context.hpp"

namespace simulated {

// A point in a stream, reached when all work before it is complete.
struct Ticket {
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;

  bool done() const;
};

struct Item {
  std::vector<Ticket> waits;
  std::function<void()> work;
  bool delayed = false;
};

struct Stream {
  Context* context = nullptr;
  CUstream handle = nullptr;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  double delay = -1;  // seconds before each item, if not negative
  bool closed = false;
  bool held = false;  // executes nothing
  std::deque<Item> queue;
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;
  std::condition_variable_any filled;
};

// Whether this thread is one that runs a stream's work.
bool in_stream();

std::shared_ptr<Stream> open_stream(Context& context, unsigned flags, int priority);
void close_stream(Stream& stream);

// Resolves the default streams of the current context, too.
std::shared_ptr<Stream> stream_of(CUstream handle);

// The same with any context or none current, for freeing; default streams require one.
std::shared_ptr<Stream> stream_without_context(CUstream handle);
std::shared_ptr<Stream> legacy_stream(Context& context);
std::size_t number_of_streams();
void forget_streams(Context& context);

// Work runs without the lock. Copies, kernels and host functions are delayed.
enum class Kind { bookkeeping, work };
Ticket submit(const std::shared_ptr<Stream>& stream, Kind kind, std::function<void()> work,
              std::vector<Ticket> waits = {});

// These release the lock while waiting, and throw if the context is invalid.
void wait_for(const Ticket& ticket, const Context& context);
void wait_for_stream(const std::shared_ptr<Stream>& stream);
void wait_for_context(Context& context);

void set_delay(double seconds);
void hold(Stream& stream, bool held);
void hold_none();

}  // namespace simulated
