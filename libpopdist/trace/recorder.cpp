// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/trace/recorder.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "common/sys/forks.h"

namespace popdist::trace {
namespace {

constexpr std::size_t kMany = 4096;
constexpr std::size_t kManyBytes = std::size_t{1} << 20;
constexpr std::chrono::seconds kOld{1};

pid_t thisThread() {
  thread_local const pid_t id = ::gettid();
  return id;
}

Recorder* makeRecorder() {
  const char* const directory = std::getenv("POPDIST_TRACE");
  if (directory == nullptr || *directory == '\0') return nullptr;
  // Never destroyed: other threads may have spans when this one exits.
  static Recorder& found = *new Recorder(directory);
  std::atexit([] { found.flush(); });
  return &found;
}

}  // namespace

Recorder::Recorder(std::string directory, std::uint64_t most_bytes)
    : directory_(std::move(directory)), most_bytes_(most_bytes), fork_(pop::sys::forksOfThisProcess()) {}

void Recorder::add(Kind kind, std::string_view name, Moment begin, Moment end) {
  gather(begin, end, [&] { events_.push_back({kind, std::string(name), thisThread(), begin, end}); });
}

void Recorder::addJson(std::string_view event) {
  const Moment now = std::chrono::steady_clock::now();
  gather(now, now, [&] { json_.append(",\n").append(event); });
}

template <typename Append>
void Recorder::gather(Moment begin, Moment end, const Append& append) {
  if (failed_.load(std::memory_order_relaxed) || fork_ != pop::sys::forksOfThisProcess()) return;
  try {
    bool is_due = false;
    {
      const std::lock_guard lock(gathering_);
      if (events_.empty() && json_.empty()) since_ = begin;
      append();
      is_due = events_.size() >= kMany || json_.size() >= kManyBytes || end - since_ > kOld;
    }
    if (is_due) flush();
  } catch (const std::exception& error) {  // no memory
    fail(error.what());
  }
}

void Recorder::flush() {
  if (fork_ != pop::sys::forksOfThisProcess()) return;
  const std::lock_guard writing(writing_);
  written_.clear();
  written_json_.clear();
  {
    const std::lock_guard lock(gathering_);
    written_.swap(events_);
    written_json_.swap(json_);
  }
  if (!(written_.empty() && written_json_.empty()) && !failed_) write();
}

void Recorder::write() {
  pop::Status status;
  if (!file_) {
    pop::Result<TraceFile> file = TraceFile::create(directory_, instance_, most_bytes_);
    status = file.status();
    if (status.ok()) file_ = std::move(*file);
  }
  if (status.ok()) status = file_->append(written_, written_json_);
  if (!status.ok()) fail(status.message().c_str());
}

void Recorder::fail(const char* cause) {
  if (!failed_.exchange(true))
    std::fprintf(stderr, "libpopdist: the trace that POPDIST_TRACE asks for ends here: %s\n", cause);
}

Recorder* recorder() {
  static Recorder* const found = makeRecorder();
  return found;
}

}  // namespace popdist::trace
