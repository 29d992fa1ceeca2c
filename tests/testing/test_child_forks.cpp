// SPDX-License-Identifier: Apache-2.0
// The test child's commands that start processes of their own, in every way that makes them hard to find
// again.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#include "common/sys/fd.h"
#include "tests/testing/test_child.h"

namespace pop::testing {
namespace {

volatile std::sig_atomic_t terminate_received = 0;

// Runs `body` in a new process. Returns its pid once it has said, by a byte in `done`, that it is where it
// wants to be.
template <typename Body>
pid_t forkAndAwait(Body body) {
  const sys::Pipe done = std::move(sys::makePipe()).value();
  const pid_t pid = ::fork();
  if (pid == 0) {
    body(done.write_end.get());
    ::_exit(0);
  }
  char byte = 0;
  while (::read(done.read_end.get(), &byte, 1) != 1) {
  }
  return pid;
}

void waitHere(int done) {
  if (sys::writeAll(done, "x").ok()) pauseForever();
}

void daemonise() {
  const pid_t middle = forkAndAwait([](int done) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGTERM, SIG_IGN);
    waitHere(done);
  });
  ::waitpid(middle, nullptr, 0);
}

void forkFromThreads() {
  constexpr int kThreads = 4;
  std::atomic<int> forked{0};
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&forked] {
      forkAndAwait(waitHere);
      ++forked;
      pauseForever();  // children of a thread that has ended would look like the main thread's
    }).detach();
  }
  while (forked < kThreads) ::sched_yield();
  sayReady();
  pauseForever();
}

// Every process that gets here goes on forking until `born` has reached `limit`.
void multiply(std::atomic<int>& born, int limit) {
  while (born.fetch_add(1) < limit) ::fork();
}

}  // namespace

int spawnGrandchild(const Arguments& arguments) {
  const std::string& kind = arguments.at(0);
  if (kind == "fork") {
    forkAndAwait(waitHere);
  } else if (kind == "group") {
    forkAndAwait([](int done) {
      ::setpgid(0, 0);
      waitHere(done);
    });
  } else if (kind == "daemon") {
    daemonise();
  } else if (kind == "nested") {
    forkAndAwait([](int done) {
      ::setsid();
      forkAndAwait([](int inner_done) {
        daemonise();
        forkAndAwait(waitHere);
        waitHere(inner_done);
      });
      waitHere(done);
    });
  } else if (kind == "threads") {
    forkFromThreads();
  } else {
    return 96;
  }
  sayReady();
  pauseForever();
}

int leaveDaemon(const Arguments& arguments) {
  daemonise();
  std::puts("daemon left");
  return std::stoi(arguments.at(0));
}

int guardGrandchild(const Arguments&) {
  const pid_t pid = forkAndAwait(waitHere);
  std::printf("grandchild %d\n", pid);
  std::fflush(stdout);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
}

int breed(const Arguments& arguments) {
  void* shared =
      ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 95;
  auto* born = new (shared) std::atomic<int>(0);
  sigset_t term;
  sigset_t before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &term,
                &before);  // sigsuspend lets it in: none is missed between the check and the wait
  std::signal(SIGTERM, [](int) { terminate_received = 1; });
  sayReady();
  while (terminate_received == 0) ::sigsuspend(&before);
  multiply(*born, std::stoi(arguments.at(0)));
  pauseForever();
}

}  // namespace pop::testing
