// SPDX-License-Identifier: Apache-2.0
// Carries the instances' output from their pipes to a sink, in whole lines where several instances share a
// stream. When the sink is full, the pump stops reading: the pipes fill up and the instances block.
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
  /// Lines: a piece ends with a newline, with a carriage return that rewrites the line, or, for a line longer
  /// than the buffer, where the buffer ends. Raw: bytes as they arrive.
  enum class Mode { kLines, kRaw };

  /// Indexed by stream.
  struct Modes {
    Mode out = Mode::kLines;
    Mode err = Mode::kLines;
  };

  using Drained = std::function<void(int instance)>;

  OutputPump(os::EpollLoop& loop, OutputSink& sink, Modes modes, Drained drained);
  ~OutputPump();

  /// Carries `read_end` (which is made non-blocking) until its end, or until the pump is destroyed.
  void attach(int instance, Stream stream, sys::Fd read_end);

  /// The instance has ended: reports it drained once the bytes that are in its pipes now have been delivered.
  /// A grandchild that still holds a pipe may go on writing; it does not delay the report.
  void drain(int instance);

  /// All writers are gone: delivers what is left in all pipes, and forgets the pipes.
  void finishAll();

 private:
  struct Source {
    sys::Fd fd;
    std::string line;          ///< the unfinished last line (kLines)
    std::size_t to_drain = 0;  ///< bytes still to deliver that were in the pipe when the instance ended
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
