#include "stream.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <unordered_map>

#include "memory.hpp"

namespace simulated {
namespace {

std::unordered_map<CUstream, std::shared_ptr<Stream>>& streams() {
  static auto& all = *new std::unordered_map<CUstream, std::shared_ptr<Stream>>;
  return all;
}

// Notifies the waiters of all tickets; there are few of them.
std::condition_variable_any& progress() {
  static auto& only = *new std::condition_variable_any;
  return only;
}

double delay_of_all = [] {
  const char* text = std::getenv("DALI_CORE_SIMULATED_DELAY");
  return text ? std::atof(text) : 0.0;
}();

thread_local bool runs_work = false;

void work_through(const std::shared_ptr<Stream>& stream) {
  runs_work = true;
  std::unique_lock<std::mutex> lock(mutex());
  while (true) {
    stream->filled.wait(lock,
                        [&] { return stream->queue.empty() ? stream->closed : !stream->held; });
    if (stream->queue.empty()) {
      stream->context->streams.erase(stream);
      return;
    }
    Item item = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (const Ticket& ticket : item.waits) {
      progress().wait(lock, [&] { return ticket.done(); });
    }
    const double delay = stream->delay >= 0 ? stream->delay : delay_of_all;
    if (item.delayed && delay > 0) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::duration<double>(delay));
      lock.lock();
    }
    // After a sticky error a device executes nothing.
    if (item.work && stream->context->broken == CUDA_SUCCESS) {
      lock.unlock();
      item.work();
      item.work = nullptr;
      lock.lock();
    }
    ++stream->completed;
    progress().notify_all();
  }
}

bool blocking(const Stream& stream) { return !(stream.flags & CU_STREAM_NON_BLOCKING); }

void add_pending(std::vector<Ticket>& waits, const std::shared_ptr<Stream>& stream) {
  if (stream->completed < stream->submitted) waits.push_back({stream, stream->submitted});
}

// The legacy stream and each blocking one synchronize with each other's earlier work.
std::vector<Ticket> earlier_work(const std::shared_ptr<Stream>& stream) {
  std::vector<Ticket> waits;
  const Context& context = *stream->context;
  if (stream == context.legacy) {
    for (const auto& other : context.streams) {
      if (other != stream && blocking(*other)) add_pending(waits, other);
    }
  } else if (context.legacy && blocking(*stream)) {
    add_pending(waits, context.legacy);
  }
  return waits;
}

}  // namespace

bool Ticket::done() const { return !stream || stream->completed >= number; }

bool in_stream() { return runs_work; }

std::shared_ptr<Stream> open_stream(Context& context, unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>();
  stream->context = &context;
  stream->id = new_handle();
  stream->handle = reinterpret_cast<CUstream>(stream->id);
  stream->flags = flags;
  stream->priority = priority;
  context.streams.insert(stream);
  std::thread(work_through, stream).detach();
  return stream;
}

void close_stream(Stream& stream) {
  stream.closed = true;
  stream.filled.notify_all();
}

std::shared_ptr<Stream> legacy_stream(Context& context) {
  if (!context.legacy) {
    context.legacy = open_stream(context, CU_STREAM_DEFAULT, 0);
    context.legacy->handle = CU_STREAM_LEGACY;
  }
  return context.legacy;
}

std::shared_ptr<Stream> stream_of(CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY) return legacy_stream(current_context());
  if (handle == CU_STREAM_PER_THREAD) {
    Context& context = current_context();
    auto& stream = context.of_threads[std::this_thread::get_id()];
    if (!stream) {
      stream = open_stream(context, CU_STREAM_DEFAULT, 0);
      stream->handle = CU_STREAM_PER_THREAD;
    }
    return stream;
  }
  require_some_context();
  return stream_without_context(handle);
}

std::shared_ptr<Stream> stream_without_context(CUstream handle) {
  if (handle <= CU_STREAM_PER_THREAD) return stream_of(handle);
  const auto found = streams().find(handle);
  refuse_destroyed(handle);
  require(found != streams().end(), CUDA_ERROR_INVALID_HANDLE);
  require_whole(*found->second->context);
  return found->second;
}

std::size_t number_of_streams() { return streams().size(); }

void forget_streams(Context& context) {
  for (const auto& stream : context.streams) {
    streams().erase(stream->handle);
    close_stream(*stream);
  }
  context.streams.clear();
  context.of_threads.clear();
  context.legacy.reset();
}

Ticket submit(const std::shared_ptr<Stream>& stream, Kind kind, std::function<void()> work,
              std::vector<Ticket> waits) {
  for (Ticket& ticket : earlier_work(stream)) waits.push_back(std::move(ticket));
  stream->queue.push_back({std::move(waits), std::move(work), kind == Kind::work});
  stream->filled.notify_all();
  return {stream, ++stream->submitted};
}

void wait_for(const Ticket& ticket, const Context& context) {
  progress().wait(mutex(), [&] { return ticket.done(); });
  require_whole(context);
  trim_pools();
}

void wait_for_stream(const std::shared_ptr<Stream>& stream) {
  Context& context = *stream->context;
  // The dependencies of the legacy stream are only known to its items.
  if (stream == context.legacy) submit(stream, Kind::bookkeeping, nullptr);
  wait_for({stream, stream->submitted}, context);
}

void wait_for_context(Context& context) {
  waited_for_device();
  std::vector<Ticket> waits;
  for (const auto& stream : context.streams) add_pending(waits, stream);
  progress().wait(mutex(), [&] {
    for (const Ticket& ticket : waits) {
      if (!ticket.done()) return false;
    }
    return true;
  });
  trim_pools();
}

void set_delay(double seconds) { delay_of_all = seconds; }

void hold(Stream& stream, bool held) {
  stream.held = held;
  stream.filled.notify_all();
}

void hold_none() {
  for (const auto& context : all_contexts()) {
    for (const auto& stream : context->streams) hold(*stream, false);
  }
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuStreamCreateWithPriority, CUstream* handle, unsigned flags, int priority) {
  Context& context = current_context();
  require(handle && (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0, CUDA_ERROR_INVALID_VALUE);
  // Values out of range are clamped, as in the driver.
  priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  const auto stream = open_stream(context, flags, priority);
  streams()[stream->handle] = stream;
  *handle = stream->handle;
}

DRIVER(cuStreamCreate, CUstream* handle, unsigned flags) {
  body_of_cuStreamCreateWithPriority(handle, flags, 0);
}

DRIVER(cuStreamDestroy, CUstream handle) {
  const auto stream = stream_without_context(handle);
  require(streams().erase(handle) == 1, CUDA_ERROR_INVALID_HANDLE);  // except default ones
  note_destroyed(handle);
  close_stream(*stream);  // its work continues
}

DRIVER(cuStreamQuery, CUstream handle) {
  const auto stream = stream_of(handle);
  std::vector<Ticket> pending = earlier_work(stream);
  add_pending(pending, stream);
  require(pending.empty(), CUDA_ERROR_NOT_READY);
}

DRIVER(cuStreamSynchronize, CUstream handle) {
  const auto stream = stream_of(handle);
  // The legacy stream waits for nearly everything.
  if (stream == stream->context->legacy) waited_for_device();
  wait_for_stream(stream);
}

DRIVER(cuStreamGetPriority, CUstream handle, int* priority) {
  require(priority, CUDA_ERROR_INVALID_VALUE);
  *priority = stream_of(handle)->priority;
}

DRIVER(cuStreamGetFlags, CUstream handle, unsigned* flags) {
  require(flags, CUDA_ERROR_INVALID_VALUE);
  *flags = stream_of(handle)->flags;
}

DRIVER(cuStreamGetId, CUstream handle, unsigned long long* id) {
  require(id, CUDA_ERROR_INVALID_VALUE);
  *id = stream_of(handle)->id;
}

DRIVER(cuStreamGetDevice, CUstream handle, CUdevice* device) {
  require(device, CUDA_ERROR_INVALID_VALUE);
  *device = stream_of(handle)->context->device->ordinal;
}

DRIVER(cuStreamGetCtx, CUstream handle, CUcontext* context) {
  require(context, CUDA_ERROR_INVALID_VALUE);
  *context = stream_of(handle)->context->handle;
}

DRIVER_SINCE(12050, cuStreamGetCtx_v2, CUstream handle, CUcontext* context, CUgreenCtx* green) {
  require(context && green, CUDA_ERROR_INVALID_VALUE);
  *context = stream_of(handle)->context->handle;
  *green = nullptr;
}

DRIVER(cuStreamIsCapturing, CUstream handle, CUstreamCaptureStatus* status) {
  require(status, CUDA_ERROR_INVALID_VALUE);
  stream_of(handle);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
}

DRIVER(cuLaunchHostFunc, CUstream handle, CUhostFn function, void* data) {
  require(function, CUDA_ERROR_INVALID_VALUE);
  submit(stream_of(handle), Kind::work, [=] { function(data); });
}
