// SPDX-License-Identifier: Apache-2.0
// The floor under every launcher's time: N processes by posix_spawn, from one or more threads, stdout and
// stderr of each through a pipe and epoll, then reaped. No rendezvous, no whole lines, no error handling.
// usage: bench_launch_floor N THREADS PROGRAM [ARGUMENTS]; PROGRAM finds its number in RANK.
#include <fcntl.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what, int error) {
  std::fprintf(stderr, "bench_launch_floor: %s: %s\n", what, std::strerror(error));
  std::_Exit(1);
}

struct Job {
  int processes;
  int threads;
  char** argv;
  int epoll;
};

int watchedPipe(int epoll, int& write_end) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe (see `ulimit -n`)", errno);
  epoll_event event{.events = EPOLLIN, .data = {.fd = ends[0]}};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) != 0) fail("epoll_ctl", errno);
  write_end = ends[1];
  return ends[0];
}

void spawn(const Job& job, int rank, std::vector<char*>& environment) {
  std::array<char, 32> variable{};
  std::snprintf(variable.data(), variable.size(), "RANK=%d", rank);
  environment[environment.size() - 2] = variable.data();
  std::array<int, 2> ends{};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (int i = 0; i < 2; ++i) {
    watchedPipe(job.epoll, ends[static_cast<std::size_t>(i)]);
    posix_spawn_file_actions_adddup2(&files, ends[static_cast<std::size_t>(i)], i + 1);
  }
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, job.argv[0], &files, nullptr, job.argv, environment.data());
  if (error != 0) fail(job.argv[0], error);
  posix_spawn_file_actions_destroy(&files);
  for (const int end : ends) ::close(end);
}

// Every THREADS-th process, beginning with `first`.
void spawnShare(const Job& job, int first) {
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
  environment.push_back(nullptr);  // for RANK
  environment.push_back(nullptr);
  for (int rank = first; rank < job.processes; rank += job.threads) spawn(job, rank, environment);
}

void forwardOutput(const Job& job) {
  std::array<char, 1 << 16> buffer;
  std::array<epoll_event, 64> events;
  for (int open = 2 * job.processes; open > 0;) {
    const int ready = ::epoll_wait(job.epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const ssize_t size = ::read(fd, buffer.data(), buffer.size());
      if (size > 0) {
        if (::write(1, buffer.data(), static_cast<std::size_t>(size)) < 0) fail("stdout", errno);
        continue;
      }
      ::epoll_ctl(job.epoll, EPOLL_CTL_DEL, fd, nullptr);
      ::close(fd);
      --open;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: bench_launch_floor N THREADS PROGRAM [ARGUMENTS]", EINVAL);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const Job job{std::atoi(argv[1]), std::atoi(argv[2]), argv + 3, ::epoll_create1(EPOLL_CLOEXEC)};
  std::vector<std::thread> others;
  for (int first = 1; first < job.threads; ++first) others.emplace_back(spawnShare, std::cref(job), first);
  spawnShare(job, 0);
  for (std::thread& other : others) other.join();
  forwardOutput(job);
  int worst = 0;
  for (int i = 0; i < job.processes; ++i) {
    int status = 0;
    if (::wait(&status) > 0 && status != 0) worst = 1;
  }
  return worst;
}
