// SPDX-License-Identifier: Apache-2.0
#include "agent/job/stack_tracer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

#include "common/base/text.h"
#include "common/sys/threads.h"

namespace pop::agent {
namespace {

// Each debugger takes a CPU for about a second.
constexpr int kMaxDebuggers = 8;
constexpr std::chrono::milliseconds kTimeout{10000};
constexpr std::size_t kMaxTextBytes = 64 << 10;

std::string contentOf(const std::string& path) {
  Result<std::string> text = sys::readFile(path);
  if (!text.ok()) return {};
  while (text->ends_with('\n')) text->pop_back();
  return *text;
}

std::string indented(const std::string& text) {
  std::string result;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) result += "    " + line + '\n';
  }
  return result;
}

// "thread 712 (python3) waits in futex_wait_queue", and the kernel's stack where reading it is allowed.
std::string fromProc(pid_t pid) {
  std::string text;
  for (const pid_t thread : sys::threadsOf(pid)) {
    const std::string directory = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + '/';
    const std::string place = contentOf(directory + "wchan");
    text += "thread " + std::to_string(thread) + " (" + contentOf(directory + "comm") + ") " +
            (place.empty() || place == "0" ? "is running" : "waits in " + place) + '\n' +
            indented(contentOf(directory + "stack"));
  }
  return text.empty() ? "its threads cannot be seen in /proc\n" : text;
}

// The part of gdb's output that shows where the threads are; empty if gdb found no frame.
std::string framesOf(const std::string& talk) {
  std::string frames;
  bool any = false;
  for (const std::string& line : split(talk, '\n')) {
    if (line.starts_with("Thread ")) frames += line + '\n';
    if (!line.starts_with('#')) continue;
    frames += "  " + line + '\n';
    any = true;
  }
  return any ? frames : "";
}

bool isInPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> directories = split(path == nullptr ? "" : path, ':');
  return std::any_of(directories.begin(), directories.end(), [&program](const std::string& directory) {
    return ::access((directory + '/' + program).c_str(), X_OK) == 0;
  });
}

std::vector<std::string> debuggerCommand(pid_t pid) {
  return {"gdb",         "-p",  std::to_string(pid),  "-batch", "-nx", "-ex",
          "set width 0", "-ex", "thread apply all bt"};
}

}  // namespace

StackTracer::~StackTracer() {
  if (deadline_) loop_.cancel(*deadline_);
  for (auto& [process, debugger] : debuggers_) stopReading(debugger);
}

void StackTracer::trace(const std::map<int, pid_t>& running, Reply reply) {
  POP_CHECK(!reply_);
  reply_ = std::move(reply);
  int process = -1;
  for (const auto& [instance, pid] : running) {
    if (process >= -kMaxDebuggers) {
      debug(process--, instance, pid);
    } else {
      traces_.push_back({instance, pid, fromProc(pid)});
    }
  }
  deadline_ =
      loop_.postAfter(debuggers_.empty() ? std::chrono::milliseconds(0) : kTimeout, [this] { finish(); });
}

void StackTracer::debug(int process, int instance, pid_t pid) {
  Result<sys::Pipe> pipe = sys::makePipe();
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::string before = fromProc(pid);
  if (!pipe.ok() || !null.valid() || !sys::setNonBlocking(pipe->read_end.get()).ok()) {
    traces_.push_back({instance, pid, std::move(before)});
    return;
  }
  keeper_.spawn({.instance = process, .argv = debuggerCommand(pid), .environment = {{"DEBUGINFOD_URLS", ""}}},
                std::array{null.get(), pipe->write_end.get(), null.get()});
  Debugger& debugger =
      debuggers_[process] = {instance, pid, std::move(before), std::move(pipe->read_end), {}};
  loop_.watchReadable(debugger.output.get(), [this, process] { receive(process); });
}

bool StackTracer::receive(int process) {
  Debugger& debugger = debuggers_.at(process);
  if (!debugger.output.valid()) return false;
  std::array<char, 16 << 10> buffer;
  const ssize_t got = ::read(debugger.output.get(), buffer.data(), buffer.size());
  if (got < 0) return false;
  if (got == 0) {
    stopReading(debugger);
    return false;
  }
  const std::size_t room = kMaxTextBytes - std::min(kMaxTextBytes, debugger.text.size());
  debugger.text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
  return true;
}

void StackTracer::stopReading(Debugger& debugger) {
  if (!debugger.output.valid()) return;
  loop_.unwatch(debugger.output.get());
  debugger.output.reset();
}

void StackTracer::onEnded(int process) {
  const auto found = debuggers_.find(process);
  if (found == debuggers_.end()) return;
  // Its output is in the pipe by now. The pipe may never reach its end, if the debugger left a process
  // behind.
  while (receive(process)) {
  }
  found->second.ended = true;
  if (std::all_of(debuggers_.begin(), debuggers_.end(), [](const auto& each) { return each.second.ended; }))
    finish();
}

void StackTracer::finish() {
  loop_.cancel(*deadline_);
  const bool has_debugger = isInPath("gdb");
  for (auto& [process, debugger] : debuggers_) {
    if (!debugger.ended) keeper_.signal(process, SIGKILL);
    stopReading(debugger);
    std::string trace = framesOf(debugger.text);
    if (trace.empty()) trace = debugger.from_proc;
    if (!has_debugger) trace += "(with gdb installed on this host, functions would be named)\n";
    traces_.push_back({debugger.instance, debugger.pid, std::move(trace)});
  }
  debuggers_.clear();
  std::sort(traces_.begin(), traces_.end(),
            [](const StackTrace& a, const StackTrace& b) { return a.instance < b.instance; });
  std::exchange(reply_, nullptr)(std::exchange(traces_, {}));
}

}  // namespace pop::agent
