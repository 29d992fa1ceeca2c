// SPDX-License-Identifier: Apache-2.0
// Puts the instances' output on poprun's own two streams: tagged or not, filtered or not, never two instances
// in a line.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/os/asio_loop.h"
#include "popdistd/controller/ports.h"
#include "poprun/ui/stream_writer.h"

namespace pop {

struct OutputSettings {
  bool tag = false;                  ///< "[3] " in front of each line
  bool whole_lines = false;          ///< several instances share a stream: each piece is lines, and ends one
  std::optional<int> only_instance;  ///< drop the output of all others
};

class OutputMux final : public OutputSink {
 public:
  /// `cannot_write` is called once, with the error of the first write that failed: EPIPE when the reader of
  /// stdout or stderr has gone away. What could not be written is lost.
  OutputMux(os::AsioLoop& loop, const OutputSettings& settings, std::function<void(int error)> cannot_write);

  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

  /// The launcher's own text on stdout, as it is.
  void print(std::string_view text) { output_.write(text); }

  /// Drops all output from now on: nobody waits for a reader that does not read.
  void abandon();

  /// True when a reader has not taken all yet.
  bool waiting() const { return output_.waitingBytes() > 0 || (errors_ && errors_->waitingBytes() > 0); }

  /// Blocks until all is written or nobody reads any more.
  void flush();

 private:
  std::string_view tagged(int instance, std::string_view text);
  void drained();
  void failed(int error);

  StreamWriter& writerOf(Stream stream) { return stream == Stream::kStderr && errors_ ? *errors_ : output_; }

  const OutputSettings settings_;
  const std::function<void(int error)> cannot_write_;
  std::function<void()> on_ready_;
  StreamWriter output_;
  std::optional<StreamWriter>
      errors_;  ///< none when stderr is the same file as stdout (2>&1): lines keep their order
  std::string scratch_;
  bool full_ = false;
  bool failure_reported_ = false;
};

}  // namespace pop
