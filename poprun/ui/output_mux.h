// SPDX-License-Identifier: Apache-2.0
// Writes the instances' output and poprun's own messages to poprun's two streams and to files: optionally
// tagged, filtered and folded. Two writers never share a line.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/os/epoll_loop.h"
#include "common/ports/agent_port.h"
#include "poprun/ui/fold.h"
#include "poprun/ui/line_tagger.h"
#include "poprun/ui/output_files.h"
#include "poprun/ui/output_settings.h"
#include "poprun/ui/status_line.h"
#include "poprun/ui/stderr_tail.h"
#include "poprun/ui/stream_writer.h"

namespace pop {

class OutputMux final : public OutputSink {
 public:
  using CannotWrite = std::function<void(const WriteFailure& failure)>;

  /// `cannot_write` is called once, for the first write that failed: EPIPE if the reader of stdout or stderr
  /// has gone. Data that cannot be written is lost.
  OutputMux(os::EpollLoop& loop, const OutputSettings& settings, CannotWrite cannot_write);

  /// Creates the files of --output-filename. Call it before anything is written.
  Status openFiles();

  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

  /// Writes the launcher's own text to stdout, unchanged.
  void print(std::string_view text);

  /// Writes the launcher's own lines to stderr, never inside a line of an instance.
  void say(std::string_view lines);

  /// Sets the host of each instance. Call it before any of them writes.
  void setHosts(const std::vector<std::string>& hosts);

  /// All instances are about to start or restart.
  void beginAttempt();
  void started(int instance);
  void ended(int instance);
  /// The instance's own output is complete.
  void closed(int instance);

  /// The last lines that the instance has written to stderr in this attempt, whether they were shown or not.
  std::vector<std::string> lastErrors(int instance) const { return tail_.lines(instance); }

  /// Releases the terminal to another program; the status line returns when output pauses.
  void eraseStatus();

  /// Drops all output from now on, so that poprun does not wait for a reader that does not read.
  void abandon();

  /// True if a reader has not taken all output yet.
  bool waiting() const;

  /// The instances write nothing more: writes held output, and then `last_lines` to stderr, even after
  /// abandon().
  void finish(std::string_view last_lines);

  /// Blocks until everything is written or the readers are gone.
  void flush();

 private:
  // One of poprun's streams, or both if they are the same file (2>&1): then lines keep their order.
  struct Screen {
    Screen(os::EpollLoop& loop, int fd, StreamWriter::Events events)
        : writer(loop, fd, std::move(events)), is_terminal(::isatty(fd) == 1) {}

    StreamWriter writer;
    const bool is_terminal;
    char last = '\n';  ///< of what was written
  };

  // The processing of one stream of all instances.
  struct Channel {
    StreamSettings settings;
    Screen& screen;
    LineTagger tagger;
    std::unique_ptr<Fold> fold;
  };

  Screen& errors() { return errors_ ? *errors_ : output_; }
  std::unique_ptr<Screen> makeErrors();
  Channel makeChannel(Stream stream);
  Channel& channelOf(Stream stream) { return stream == Stream::kStdout ? out_ : err_; }
  void startStatusLine();

  std::string& beginLine(Screen& screen);
  std::string& makeRoom(Screen& screen);
  void send(Screen& screen);
  void drained();
  void failed(const WriteFailure& failure);

  os::EpollLoop& loop_;
  const OutputSettings settings_;
  const CannotWrite cannot_write_;
  std::function<void()> on_ready_;
  Screen output_;
  std::unique_ptr<Screen> errors_;  ///< null if stderr is the same file as stdout
  Channel out_;
  Channel err_;
  OutputFiles files_;
  StderrTail tail_;
  std::unique_ptr<StatusLine> status_;
  bool full_ = false;
  bool failure_reported_ = false;
};

}  // namespace pop
