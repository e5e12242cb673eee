// The other end of CodecProcess: a process that loads nvImageCodec once and then only forks, for
// each thread that asks, a process that forks decoders and waits for them. One decoder serves image
// after image until a file is refused or breaks it; the next one starts in the clean state of its
// parent, so that no file can spoil another one.
#include "dali_core/native_io/image_decoding/codec_messages.hpp"

#if DALI_CORE_HAVE_NVIMGCODEC

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/native_io/image_decoding/nvimgcodec_session.hpp"

namespace dali_core {
namespace {

// Exit statuses of a decoder.
constexpr int kNobodyAsks = 0, kImageRefused = 1;

// Says which command a decoder is busy with, for the process that sees how it ends.
struct Progress {
  std::atomic<uint64_t> number{0};  // 0 while it waits
};

void close_inherited_descriptors() {
  std::vector<int> others;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) {
      const int descriptor = std::atoi(entry->d_name);
      if (descriptor > kCodecServer) others.push_back(descriptor);
    }
    ::closedir(folder);
  }
  for (const int descriptor : others) ::close(descriptor);
}

bool receive(CodecCommand& command) {
  return receive_message(kCodecSocket, &command, sizeof command) == sizeof command;
}

void answer(const CodecReply& reply) { send_message(kCodecSocket, &reply, sizeof reply); }

void answer_refused(uint64_t number, const char* message) {
  CodecReply reply;
  reply.number = number;
  reply.outcome = CodecReply::kRefused;
  std::snprintf(reply.message, sizeof reply.message, "%s", message);
  answer(reply);
}

void put(const ImageInfo& info, CodecReply& reply) {
  std::snprintf(reply.format, sizeof reply.format, "%s", info.format.c_str());
  reply.height = info.height;
  reply.width = info.width;
  reply.channels = info.channels;
  reply.sample_type = info.sample_type;
  reply.orientation = info.orientation;
}

// Ends this process after so much processor time; 0 for no limit. A codec that waits for nothing at
// all is ended as well, though later: other processes may keep it waiting.
void limit_seconds(int64_t seconds) {
  constexpr int64_t kWaitingPerSecond = 10;
  const itimerval timer{{0, 0}, {static_cast<time_t>(seconds), 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  ::alarm(static_cast<unsigned>(kWaitingPerSecond * seconds));
}

int decode_until_refused(NvimgcodecSession& session, Progress& progress) {
  SharedMemory shared;
  bool is_open = false;
  CodecCommand command;
  while (receive(command)) {
    progress.number = command.number;
    limit_seconds(command.seconds);
    try {
      // An image that is open would point to where the memory was.
      is_open = is_open && shared.size() == command.shared_bytes;
      shared.map(kCodecMemory, command.shared_bytes);
      CodecReply reply;
      reply.number = command.number;
      if (command.kind == CodecCommand::kOpen || !is_open)
        put(session.open(EncodedImage{shared.data(), command.encoded_bytes}), reply);
      is_open = true;
      if (command.kind == CodecCommand::kDecode)
        session.decode(command.request, shared.data() + command.pixels_at);
      limit_seconds(0);
      progress.number = 0;
      answer(reply);
    } catch (const std::exception& error) {
      progress.number = 0;
      answer_refused(command.number, error.what());
      return kImageRefused;
    }
  }
  return kNobodyAsks;
}

// For one thread of the program.
int serve(NvimgcodecSession& session) {
  void* page =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return EXIT_FAILURE;
  Progress& progress = *new (page) Progress;

  while (true) {
    const pid_t decoder = ::fork();
    if (decoder == 0) ::_exit(decode_until_refused(session, progress));
    if (decoder < 0) return EXIT_FAILURE;
    int status = 0;
    while (::waitpid(decoder, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNobodyAsks) return EXIT_SUCCESS;
    const uint64_t number = progress.number.exchange(0);
    if (number == 0) continue;
    CodecReply reply;
    reply.number = number;
    reply.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool is_too_slow = reply.signal == SIGALRM || reply.signal == SIGPROF;
    reply.outcome = is_too_slow ? CodecReply::kTooSlow : CodecReply::kCrashed;
    answer(reply);
  }
}

int refuse_all(const std::string& reason) {
  CodecCommand command;
  while (receive(command)) answer_refused(command.number, reason.c_str());
  return EXIT_FAILURE;
}

// Gives the descriptors of the thread that asks the numbers that they have in the process for it,
// which has no others then: the server's own socket is among those that they replace.
void take_over(const std::vector<int>& theirs) {
  ::dup2(theirs[0], kCodecSocket);
  ::dup2(theirs[1], kCodecMemory);
  for (const int descriptor : theirs)
    if (descriptor > kCodecMemory) ::close(descriptor);
}

int serve_threads(const CodecLibraryPaths& paths) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (const int end_of_time : {SIGALRM, SIGPROF}) ::signal(end_of_time, SIG_DFL);
  // There is no wait for the processes of threads: the system reaps them.
  ::signal(SIGCHLD, SIG_IGN);
  std::unique_ptr<NvimgcodecSession> session;
  std::string reason;
  char request;
  std::vector<int> theirs;
  while (receive_message(kCodecServer, &request, 1, theirs) > 0 && theirs.size() == 2) {
    if (!session) {
      // What cannot be loaded now, for want of memory perhaps, may be when another thread asks.
      try {
        std::unique_ptr<NvimgcodecSession> made(new NvimgcodecSession(CodecLibrary::get(paths)));
        made->prepare();
        session = std::move(made);
      } catch (const std::exception& error) {
        reason = error.what();
      }
    }
    if (::fork() == 0) {
      ::signal(SIGCHLD, SIG_DFL);
      take_over(theirs);
      ::_exit(session ? serve(*session) : refuse_all(reason));
    }
    for (const int descriptor : theirs) ::close(descriptor);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace dali_core

// `arguments` are the paths of nvImageCodec and of its extensions.
extern "C" __attribute__((visibility("default"))) int dali_core_serve_codecs(
    int count, const char* const* arguments) {
  dali_core::close_inherited_descriptors();
  dali_core::CodecLibraryPaths paths;
  paths.library = count > 0 ? arguments[0] : "";
  for (int i = 1; i < count; ++i) paths.extensions.emplace_back(arguments[i]);
  return dali_core::serve_threads(paths);
}

#endif
