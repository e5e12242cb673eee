// A server of S3 on this machine whose answers come after a given latency, for benchmarks.
//
//   slow_storage MILLISECONDS <objects
//
// Each line of standard input names an object and its file, with a tab between, up to an empty
// line. The port goes to standard output, and the server ends with its standard input. It answers
// GET and HEAD, also of ranges. One thread sends files without copying them, so that it takes
// little of the processors that it shares with the client.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace {

struct Object {
  int file = -1;
  int64_t size = 0;
  std::string tag;
};

struct Answer {
  std::string head;
  int file = -1;
  off_t offset = 0;
  int64_t bytes = 0;  // of the file
};

struct Connection {
  int socket = -1;
  std::string received;
  std::deque<Answer> answers;  // whose latency has passed
  bool is_blocked = false, is_open = true;
};

struct Due {
  int64_t nanoseconds;
  std::shared_ptr<Connection> connection;
  Answer answer;
};

int64_t now() {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

int checked(int result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

class Server {
 public:
  Server(int64_t latency, std::unordered_map<std::string, Object> objects)
      : latency_(latency), objects_(std::move(objects)) {
    listener_ = checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
    const int bytes = 4 << 20;
    ::setsockopt(listener_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<struct sockaddr*>(&address);
    socklen_t length = sizeof address;
    checked(::bind(listener_, generic, length), "bind");
    checked(::listen(listener_, 512), "listen");
    checked(::getsockname(listener_, generic, &length), "getsockname");
    port_ = ntohs(address.sin_port);
    timer_ = checked(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), "timerfd_create");
    events_ = checked(::epoll_create1(0), "epoll_create1");
    for (const int descriptor : {listener_, STDIN_FILENO}) watch(descriptor, EPOLLIN);
    watch(timer_, EPOLLIN | EPOLLET);  // nobody reads it
  }

  int port() const { return port_; }

  void run() {
    while (true) {
      struct epoll_event found[64];
      const int count = ::epoll_wait(events_, found, 64, -1);
      if (count < 0 && errno != EINTR) checked(count, "epoll_wait");
      for (int index = 0; index < count; ++index) {
        const int descriptor = found[index].data.fd;
        if (descriptor == STDIN_FILENO) return;
        if (descriptor == listener_)
          accept();
        else if (descriptor != timer_)
          serve(descriptor, found[index].events);
      }
      answer_due();
    }
  }

 private:
  void watch(int descriptor, uint32_t events) {
    struct epoll_event event = {};
    event.events = events;
    event.data.fd = descriptor;
    checked(::epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  }

  void accept() {
    int socket;
    while ((socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_[socket] = std::make_shared<Connection>();
      connections_[socket]->socket = socket;
      watch(socket, EPOLLIN | EPOLLOUT | EPOLLET);
    }
  }

  void serve(int socket, uint32_t events) {
    const auto connection = connections_.at(socket);
    if (events & EPOLLOUT) {
      connection->is_blocked = false;
      send(*connection);
    }
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
    char buffer[16384];
    ssize_t count;
    while (connection->is_open && (count = ::read(socket, buffer, sizeof buffer)) != 0) {
      if (count < 0 && errno == EAGAIN) break;
      if (count < 0) return close(*connection);
      connection->received.append(buffer, static_cast<size_t>(count));
    }
    if (!connection->is_open) return;
    if (count == 0) return close(*connection);
    size_t end;
    while ((end = connection->received.find("\r\n\r\n")) != std::string::npos) {
      due_.push_back(
          {now() + latency_, connection, answer_to(connection->received.substr(0, end))});
      connection->received.erase(0, end + 4);
    }
  }

  Answer answer_to(const std::string& request) const {
    const size_t start = request.find(' ') + 1;
    const auto found =
        objects_.find(request.substr(start, request.find_first_of(" ?", start) - start));
    if (found == objects_.end()) return {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
    const Object& object = found->second;
    Answer answer{"HTTP/1.1 200 OK\r\n", object.file, 0, object.size};
    const char* part = ::strcasestr(request.c_str(), "\r\nrange: bytes=");
    long long first, last = object.size - 1;  // which may be left open
    if (part != nullptr && std::sscanf(part + 15, "%lld-%lld", &first, &last) >= 1) {
      last = std::min<long long>(last, object.size - 1);
      answer.offset = first;
      answer.bytes = std::max<int64_t>(last + 1 - first, 0);
      answer.head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " +
                    std::to_string(first) + "-" + std::to_string(last) + "/" +
                    std::to_string(object.size) + "\r\n";
    }
    answer.head += "Content-Length: " + std::to_string(answer.bytes) + "\r\nETag: \"" + object.tag +
                   "\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n";
    if (request.compare(0, 4, "HEAD") == 0) answer.bytes = 0;
    return answer;
  }

  void answer_due() {
    const int64_t time = now();
    for (; !due_.empty() && due_.front().nanoseconds <= time; due_.pop_front()) {
      Due& due = due_.front();
      due.connection->answers.push_back(std::move(due.answer));
      send(*due.connection);
    }
    if (due_.empty()) return;
    struct itimerspec next = {};
    next.it_value.tv_sec = due_.front().nanoseconds / 1'000'000'000;
    next.it_value.tv_nsec = due_.front().nanoseconds % 1'000'000'000;
    checked(::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &next, nullptr), "timerfd_settime");
  }

  void send(Connection& connection) {
    while (connection.is_open && !connection.is_blocked && !connection.answers.empty()) {
      Answer& answer = connection.answers.front();
      ssize_t sent;
      if (!answer.head.empty()) {
        const int more = answer.bytes > 0 ? MSG_MORE : 0;
        sent =
            ::send(connection.socket, answer.head.data(), answer.head.size(), MSG_NOSIGNAL | more);
        if (sent > 0) answer.head.erase(0, static_cast<size_t>(sent));
      } else {
        sent = ::sendfile(connection.socket, answer.file, &answer.offset,
                          static_cast<size_t>(answer.bytes));
        if (sent > 0) answer.bytes -= sent;
      }
      if (sent < 0 && errno == EAGAIN)
        connection.is_blocked = true;
      else if (sent < 0)
        return close(connection);
      else if (answer.head.empty() && answer.bytes == 0)
        connection.answers.pop_front();
    }
  }

  void close(Connection& connection) {
    if (!connection.is_open) return;
    connection.is_open = false;
    ::close(connection.socket);
    connections_.erase(connection.socket);  // the caller holds it
  }

  const int64_t latency_;
  const std::unordered_map<std::string, Object> objects_;
  std::unordered_map<int, std::shared_ptr<Connection>> connections_;
  std::deque<Due> due_;  // all latencies are equal: the first one is due first
  int listener_ = -1, timer_ = -1, events_ = -1, port_ = 0;
};

std::unordered_map<std::string, Object> read_objects() {
  std::unordered_map<std::string, Object> objects;
  std::string line;
  while (std::getline(std::cin, line) && !line.empty()) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) throw std::runtime_error("no tab in: " + line);
    const std::string path = line.substr(tab + 1);
    Object object;
    object.file = checked(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path.c_str());
    struct stat status;
    checked(::fstat(object.file, &status), path.c_str());
    object.size = status.st_size;
    object.tag = std::to_string(objects.size()) + "-" + std::to_string(status.st_size);
    objects[line.substr(0, tab)] = object;
  }
  return objects;
}

}  // namespace

int main(int, char** arguments) {
  try {
    Server server(std::atoll(arguments[1]) * 1'000'000, read_objects());
    std::printf("%d\n", server.port());
    std::fflush(stdout);
    server.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slow_storage: %s\n", error.what());
    return 1;
  }
}
