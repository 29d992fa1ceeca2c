// SPDX-License-Identifier: Apache-2.0
// Carries the instances' output from their pipes to a sink, in whole lines where many instances share one of
// its streams. When the sink is full, nothing is read: the pipes fill and the instances wait.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "common/sys/fd.h"

namespace pop::agent {

class OutputPump {
 public:
  /// Lines: a piece ends with a line, or with a state of a line that a carriage return begins anew (or is a
  /// line longer than the buffer, cut). Raw: bytes as they come.
  enum class Mode { kLines, kRaw };

  /// By stream.
  struct Modes {
    Mode out = Mode::kLines;
    Mode err = Mode::kLines;
  };

  using Drained = std::function<void(int instance)>;

  OutputPump(os::EpollLoop& loop, OutputSink& sink, Modes modes, Drained drained);
  ~OutputPump();

  /// Carries `read_end` (made non-blocking) until its end, or until the pump is gone.
  void attach(int instance, Stream stream, sys::Fd read_end);

  /// The instance has ended: reports it drained when what is in its pipes now has been delivered. A
  /// grandchild that still holds a pipe can go on writing; it does not hold up the report.
  void drain(int instance);

  /// Nobody writes any more: delivers what is left in all pipes, and forgets them.
  void finishAll();

 private:
  struct Source {
    sys::Fd fd;
    std::string line;          ///< the unfinished last line (kLines)
    std::size_t to_drain = 0;  ///< bytes left of what was in the pipe when the instance ended
    bool draining = false;
  };
  using Key = std::pair<int, Stream>;

  void watch(const Key& key, const Source& source);
  void pull(Key key);  ///< by value: the source that holds the caller's may go
  void deliver(const Key& key, Source& source, std::size_t bytes);
  void give(const Key& key, std::string_view text);
  void finish(const Key& key, Source& source);
  void checkDrained(int instance);
  void pause();
  void resume();

  os::EpollLoop& loop_;
  OutputSink& sink_;
  const Modes modes_;
  const Drained drained_;
  const std::unique_ptr<char[]> buffer_;
  std::map<Key, Source> sources_;
  std::set<int> draining_;
  bool paused_ = false;
};

}  // namespace pop::agent
