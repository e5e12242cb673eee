// Events: points in streams that others wait for.
#include <chrono>
#include <unordered_map>

#include "event.hpp"
#include "stream.hpp"

namespace simulated {
namespace {

struct Record {
  Ticket ticket;
  std::chrono::steady_clock::time_point time;
};

struct Event {
  Context* context = nullptr;
  unsigned flags = 0;
  std::shared_ptr<Record> record;
};

std::unordered_map<CUevent, Event>& events() {
  static auto& all = *new std::unordered_map<CUevent, Event>;
  return all;
}

Event& event_without_context(CUevent handle) {
  const auto found = events().find(handle);
  refuse_destroyed(handle);
  require(found != events().end(), CUDA_ERROR_INVALID_HANDLE);
  require_whole(*found->second.context);
  return found->second;
}

Event& event_of(CUevent handle) {
  require_some_context();
  return event_without_context(handle);
}

void elapsed(float* milliseconds, CUevent start, CUevent end) {
  const Event& first = event_of(start);
  const Event& second = event_of(end);
  require(milliseconds, CUDA_ERROR_INVALID_VALUE);
  const bool timed = !((first.flags | second.flags) & CU_EVENT_DISABLE_TIMING);
  require(timed && first.record && second.record && first.context == second.context,
          CUDA_ERROR_INVALID_HANDLE);
  require(first.record->ticket.done() && second.record->ticket.done(), CUDA_ERROR_NOT_READY);
  const std::chrono::duration<float, std::milli> between = second.record->time - first.record->time;
  *milliseconds = between.count();
}

}  // namespace

std::size_t number_of_events() { return events().size(); }

void forget_events(Context& context) {
  for (auto event = events().begin(); event != events().end();) {
    event = event->second.context == &context ? events().erase(event) : std::next(event);
  }
}

}  // namespace simulated

using namespace simulated;

DRIVER(cuEventCreate, CUevent* handle, unsigned flags) {
  Context& context = current_context();
  const unsigned known =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | unsigned{CU_EVENT_INTERPROCESS};
  require(handle && !(flags & ~known), CUDA_ERROR_INVALID_VALUE);
  *handle = reinterpret_cast<CUevent>(new_handle());
  events()[*handle] = {&context, flags, nullptr};
}

DRIVER(cuEventDestroy, CUevent handle) {
  event_without_context(handle);
  events().erase(handle);
  note_destroyed(handle);
}

DRIVER(cuEventRecord, CUevent handle, CUstream in) {
  Event& event = event_of(handle);
  const auto stream = stream_of(in);
  require(stream->context == event.context, CUDA_ERROR_INVALID_HANDLE);
  const auto record = std::make_shared<Record>();
  event.record = record;
  record->ticket = submit(stream, Kind::bookkeeping,
                          [record] { record->time = std::chrono::steady_clock::now(); });
}

DRIVER(cuEventRecordWithFlags, CUevent handle, CUstream in, unsigned flags) {
  require(flags == CU_EVENT_RECORD_DEFAULT, CUDA_ERROR_INVALID_VALUE);
  body_of_cuEventRecord(handle, in);
}

DRIVER(cuEventQuery, CUevent handle) {
  const Event& event = event_without_context(handle);
  require(!event.record || event.record->ticket.done(), CUDA_ERROR_NOT_READY);
}

DRIVER(cuEventSynchronize, CUevent handle) {
  const Event& event = event_of(handle);
  const Context& context = *event.context;
  // The event may be destroyed, or recorded again, meanwhile.
  const auto record = event.record;
  if (record) wait_for(record->ticket, context);
}

// Across devices, too.
DRIVER(cuStreamWaitEvent, CUstream handle, CUevent awaited, unsigned flags) {
  require(flags == CU_EVENT_WAIT_DEFAULT, CUDA_ERROR_INVALID_VALUE);
  const auto stream = stream_of(handle);
  const Event& event = event_of(awaited);
  if (event.record) submit(stream, Kind::bookkeeping, nullptr, {event.record->ticket});
}

DRIVER(cuEventElapsedTime, float* milliseconds, CUevent start, CUevent end) {
  elapsed(milliseconds, start, end);
}

DRIVER_SINCE(12080, cuEventElapsedTime_v2, float* milliseconds, CUevent start, CUevent end) {
  elapsed(milliseconds, start, end);
}
