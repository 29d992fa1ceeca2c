// SPDX-License-Identifier: Apache-2.0
// Puts the instances' output on poprun's own two streams: tagged or not, filtered or not, never two instances
// in a line.
#pragma once

#include <array>
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
  /// `reader_gone` is called once, when the reader of stdout or stderr has gone away.
  OutputMux(os::AsioLoop& loop, const OutputSettings& settings, std::function<void()> reader_gone);

  bool write(int instance, Stream stream, std::string_view text) override;
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

  /// The launcher's own text on stdout, as it is.
  void print(std::string_view text) { writers_[static_cast<std::size_t>(Stream::kStdout)].write(text); }

  /// Drops all output from now on: nobody waits for a reader that does not read.
  void abandon();

  /// Blocks until all is written or nobody reads any more.
  void flush();

 private:
  std::string_view tagged(int instance, std::string_view text);
  void drained();
  void failed();

  const OutputSettings settings_;
  const std::function<void()> reader_gone_;
  std::function<void()> on_ready_;
  std::array<StreamWriter, 2> writers_;  ///< by Stream
  std::string scratch_;
  bool full_ = false;
  bool reader_gone_reported_ = false;
};

}  // namespace pop
