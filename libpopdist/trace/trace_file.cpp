// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/trace/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "common/base/json.h"
#include "common/base/text.h"
#include "common/sys/no_write_signal.h"

namespace popdist::trace {
namespace {

using std::chrono::nanoseconds;

constexpr const char* kEnd = "\n]\n";

// 2026-01-01 00:00 UTC. Viewers read microseconds as a double: since 1970 it could not tell 200 ns apart.
constexpr std::int64_t kOrigin_s = 1767225600;

// Hosts agree on the time of day, not on the steady clock.
nanoseconds originOfSteadyClock() {
  const auto steady = std::chrono::steady_clock::now().time_since_epoch();
  const auto day = std::chrono::system_clock::now().time_since_epoch() - std::chrono::seconds(kOrigin_s);
  return std::chrono::duration_cast<nanoseconds>(day) - std::chrono::duration_cast<nanoseconds>(steady);
}

void addNumber(std::string& text, std::int64_t number) {
  std::array<char, 20> digits{};
  text.append(digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr);
}

void addMicroseconds(std::string& text, nanoseconds time) {
  addNumber(text, time.count() / 1000);
  const std::string rest = std::to_string(1000 + time.count() % 1000);  // with its zeros in front
  text.append(rest, 1).insert(text.size() - 3, 1, '.');
}

const char* nameOf(Kind kind) {
  switch (kind) {
    case Kind::kProgram:
      return "program";
    case Kind::kTraining:
      return "training";
    case Kind::kInput:
      return "input";
  }
  return "";
}

std::string nameOfThread(pid_t thread) {
  std::string name;
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  std::getline(file, name);
  return name.empty() ? "ended" : name;
}

std::string nameOfProcess(int instance) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return (instance < 0 ? "process" : "instance " + std::to_string(instance)) + " (" + host.data() + ", pid " +
         std::to_string(::getpid()) + ")";
}

pop::Status failed(const std::string& what) {
  return {pop::Code::kUnavailable, "cannot " + what + ": " + std::strerror(errno)};
}

/// "instance-0", and of a job that was started anew "instance-0-restart-2": what came before shows why.
std::string stemOf(int instance) {
  if (instance < 0) return "process-" + std::to_string(::getpid());
  const char* const restarts = std::getenv("POPDIST_RESTART_COUNT");
  const bool is_count = restarts != nullptr && restarts[std::strspn(restarts, "0123456789")] == '\0';
  const bool is_first = !is_count || *restarts == '\0' || std::strcmp(restarts, "0") == 0;
  return "instance-" + std::to_string(instance) + (is_first ? "" : "-restart-" + std::string(restarts));
}

/// EWOULDBLOCK: another process writes it. Locked as long as it is open.
pop::sys::Fd openLocked(const std::string& path) {
  pop::sys::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return fd;
}

}  // namespace

pop::Result<TraceFile> TraceFile::create(const std::string& directory, int instance,
                                         std::uint64_t most_bytes) {
  if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
    return failed("make the directory " + pop::inQuotes(directory));
  const std::string stem = directory + '/' + stemOf(instance);
  std::string path = stem + ".json";
  pop::sys::Fd fd = openLocked(path);
  if (!fd.valid() && errno == EWOULDBLOCK) {
    path = stem + "-pid-" + std::to_string(::getpid()) + ".json";
    fd = openLocked(path);
  }
  // A pipe or a device has no size; writing tells what it makes of it.
  if (!fd.valid() || (::ftruncate(fd.get(), 0) != 0 && errno != EINVAL))
    return failed("write " + pop::inQuotes(path));
  TraceFile file(path, std::move(fd), instance < 0 ? static_cast<int>(::getpid()) : instance, most_bytes);
  const std::string head = "[\n" + file.metadata("process_name", 0, nameOfProcess(instance));
  POP_RETURN_IF_ERROR(file.writeAt(0, head + kEnd));
  file.end_ = head.size();
  return file;
}

std::string TraceFile::metadata(const char* what, pid_t thread, const std::string& name) const {
  return pop::JsonObject()
      .text("ph", "M")
      .number("pid", process_)
      .number("tid", thread)
      .text("name", what)
      .json("args", pop::JsonObject().text("name", name).str())
      .str();
}

// Event by event into one text: a training may have a thousand of them in the time of a sentence.
void TraceFile::addTo(std::string& text, const Event& event) const {
  static const nanoseconds origin = originOfSteadyClock();
  text += ",\n{\"ph\":\"X\",\"pid\":";
  addNumber(text, process_);
  text += ",\"tid\":";
  addNumber(text, event.thread);
  text += ",\"ts\":";
  addMicroseconds(text, event.begin.time_since_epoch() + origin);
  text += ",\"dur\":";
  addMicroseconds(text, event.end - event.begin);
  text += ",\"cat\":\"";
  text += nameOf(event.kind);
  text += "\",\"name\":";
  text += pop::jsonQuoted(event.name);
  text += '}';
}

pop::Status TraceFile::append(const std::vector<Event>& events, std::string_view json) {
  std::string& text = text_;
  text.clear();
  for (const Event& event : events) {
    if (threads_.insert(event.thread).second)
      text += ",\n" + metadata("thread_name", event.thread, nameOfThread(event.thread));
    addTo(text, event);
  }
  text += json;
  if (end_ + text.size() + std::strlen(kEnd) > most_bytes_)
    return {pop::Code::kResourceExhausted, pop::inQuotes(path_) + " has reached " +
                                               std::to_string(most_bytes_ >> 20) +
                                               " MiB: trace a shorter run to see the rest"};
  const std::uint64_t end = end_ + text.size();
  POP_RETURN_IF_ERROR(writeAt(end_, text += kEnd));
  end_ = end;
  return {};
}

// One pwrite(2): what follows the events is overwritten together with them.
pop::Status TraceFile::writeAt(std::uint64_t offset, const std::string& text) const {
  const pop::sys::NoWriteSignal quiet(SIGXFSZ);
  const ssize_t written = ::pwrite(file_.get(), text.data(), text.size(), static_cast<off_t>(offset));
  if (written == static_cast<ssize_t>(text.size())) return {};
  if (written >= 0) errno = ENOSPC;
  const pop::Status status = failed("write " + pop::inQuotes(path_));
  // The text that was valid before is valid again.
  if (offset > 0 && ::ftruncate(file_.get(), static_cast<off_t>(offset)) == 0)
    static_cast<void>(::pwrite(file_.get(), kEnd, std::strlen(kEnd), static_cast<off_t>(offset)));
  return status;
}

}  // namespace popdist::trace
