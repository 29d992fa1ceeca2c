// SPDX-License-Identifier: Apache-2.0
// Puts the instances' output, and what poprun says itself, on poprun's own two streams and into files: tagged
// or not, filtered or not, folded or not, never two writers in a line.
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

  /// `cannot_write` is called once, with the first write that failed: EPIPE when the reader of stdout or
  /// stderr has gone away. What could not be written is lost.
  OutputMux(os::EpollLoop& loop, const OutputSettings& settings, CannotWrite cannot_write);

  /// Makes the files of --output-filename. Call it before anything is written.
  Status openFiles();

  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

  /// The launcher's own text on stdout, as it is.
  void print(std::string_view text);

  /// The launcher's own lines on stderr, never inside a line of an instance.
  void say(std::string_view lines);

  /// The host of each instance, before any writes.
  void setHosts(const std::vector<std::string>& hosts);

  /// All instances are about to start, for the first time or again.
  void beginAttempt();
  void started(int instance);
  void ended(int instance);
  /// All that the instance itself has written has come.
  void closed(int instance);

  /// The last lines that the instance has written to stderr in this attempt, shown or not.
  std::vector<std::string> lastErrors(int instance) const { return tail_.lines(instance); }

  /// Leaves the terminal to somebody else; the status line comes back in a pause.
  void eraseStatus();

  /// Drops all output from now on: nobody waits for a reader that does not read.
  void abandon();

  /// True when a reader has not taken all yet.
  bool waiting() const;

  /// Nothing more comes from instances: sends what was held back, and then `last_lines` to stderr, also after
  /// abandon().
  void finish(std::string_view last_lines);

  /// Blocks until all is written or nobody reads any more.
  void flush();

 private:
  // One of poprun's streams, or both where they are the same file (2>&1): lines keep their order then.
  struct Screen {
    Screen(os::EpollLoop& loop, int fd, StreamWriter::Events events)
        : writer(loop, fd, std::move(events)), is_terminal(::isatty(fd) == 1) {}

    StreamWriter writer;
    const bool is_terminal;
    char last = '\n';  ///< of what was written
  };

  // What one stream of all instances goes through.
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
  std::unique_ptr<Screen> errors_;  ///< none when stderr is the same file as stdout
  Channel out_;
  Channel err_;
  OutputFiles files_;
  StderrTail tail_;
  std::unique_ptr<StatusLine> status_;
  bool full_ = false;
  bool failure_reported_ = false;
};

}  // namespace pop
