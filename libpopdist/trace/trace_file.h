// SPDX-License-Identifier: Apache-2.0
// A file of events in the Trace Event Format's JSON array, which Perfetto and Chrome show. It is valid JSON
// after each write, however the process ends.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/sys/fd.h"
#include "libpopdist/trace/event.h"

namespace popdist::trace {

class TraceFile {
 public:
  /// Makes the directory if it is missing, and truncates the file: instance-N.json (after a restart
  /// instance-N-restart-COUNT.json), or process-PID.json for an instance of -1. Where another process writes
  /// that, such as the evaluator beside a training, -pid-PID comes before .json.
  static pop::Result<TraceFile> create(const std::string& directory, int instance, std::uint64_t most_bytes);

  /// `json`: more events, as the file will have them, each after a comma.
  /// kResourceExhausted: they would exceed most_bytes, and are not written.
  pop::Status append(const std::vector<Event>& events, std::string_view json);

  const std::string& path() const { return path_; }

 private:
  TraceFile(std::string path, pop::sys::Fd file, int process, std::uint64_t most_bytes)
      : path_(std::move(path)), file_(std::move(file)), process_(process), most_bytes_(most_bytes) {}

  std::string metadata(const char* what, pid_t thread, const std::string& name) const;
  void addTo(std::string& text, const Event& event) const;
  pop::Status writeAt(std::uint64_t offset, const std::string& text) const;

  std::string path_;
  pop::sys::Fd file_;
  int process_;
  std::uint64_t most_bytes_;
  std::uint64_t end_ = 0;      // before the closing bracket
  std::set<pid_t> threads_{};  // that have a name in the file
  std::string text_{};         // kept for its memory
};

}  // namespace popdist::trace
