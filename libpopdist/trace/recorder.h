// SPDX-License-Identifier: Apache-2.0
// Collects events of all threads of this process and writes them by the thousand.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libpopdist/trace/event.h"
#include "libpopdist/trace/trace_file.h"

namespace popdist::trace {

class Recorder {
 public:
  explicit Recorder(std::string directory, std::uint64_t most_bytes = std::uint64_t{256} << 20);

  /// The first call counts, if it comes before events are written.
  void setInstance(int instance) {
    int none = -1;
    instance_.compare_exchange_strong(none, instance);
  }

  /// From any thread. Writes what has gathered if that is much, or older than a second.
  void add(Kind kind, std::string_view name, Moment begin, Moment end);

  /// The same, for an event of a process that has a clock of its own: a JSON object as the file will have it.
  void addJson(std::string_view event);
  void flush();

 private:
  template <typename Append>
  void gather(Moment begin, Moment end, const Append& append);
  void write();
  void fail(const char* cause);  // says it once

  const std::string directory_;
  const std::uint64_t most_bytes_;
  const unsigned fork_;  // children have copies of locks and of events: they write nothing
  std::atomic<int> instance_{-1};
  std::atomic<bool> failed_{false};

  std::mutex gathering_;
  std::vector<Event> events_;
  std::string json_;  // events, each after a comma
  Moment since_;      // the begin of the first of both

  std::mutex writing_;          // taken before gathering_
  std::vector<Event> written_;  // kept for its memory
  std::string written_json_;    // likewise
  std::optional<TraceFile> file_;
};

/// The recorder by POPDIST_TRACE when the process began; nullptr: it was not set.
Recorder* recorder();

/// While it lives, this thread does `name`.
class Scope {
 public:
  Scope(Kind kind, std::string_view name)
      : kind_(kind),
        name_(name),
        begin_(recorder() == nullptr ? Moment() : std::chrono::steady_clock::now()) {}
  ~Scope() {
    if (Recorder* const found = recorder())
      found->add(kind_, name_, begin_, std::chrono::steady_clock::now());
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  const Kind kind_;
  const std::string_view name_;
  const Moment begin_;
};

inline void add(Kind kind, std::string_view name, Moment begin, Moment end) {
  if (Recorder* const found = recorder()) found->add(kind, name, begin, end);
}

}  // namespace popdist::trace
