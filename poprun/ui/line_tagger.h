// SPDX-License-Identifier: Apache-2.0
// Adds time and instance tags at the beginning of lines. The tag is built once for a piece of many lines, and
// the lines are copied once.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"
#include "poprun/plan/settings.h"

namespace pop {

using WallClock = std::chrono::system_clock;

/// Clears the current line of a terminal, with the cursor at its beginning.
inline constexpr std::string_view kEraseToEnd = "\x1b[K";

struct TagSettings {
  TagOutput form = TagOutput::kNo;  ///< never kAuto
  bool timestamps = false;
};

/// "2026-11-20T21:46:59.123+01:00", local time.
std::string timestampOf(WallClock::time_point time);

class LineTagger {
 public:
  /// `overprints`: the output is a terminal, where text after a carriage return overwrites the line.
  /// Otherwise each state of such a line becomes a separate line.
  LineTagger(TagSettings settings, Stream stream, bool overprints);

  /// The host of each instance, for kHost.
  void setHosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }

  /// Appends to `out` the lines of `text`, each with its tag. An unfinished line at the end of `text` gets a
  /// newline, because another instance may write next.
  void append(std::string& out, int instance, std::string_view text, WallClock::time_point now);

  /// The same for lines that several instances have written: "[0-2,5] ".
  void appendFolded(std::string& out, const std::string& instances, std::string_view text,
                    WallClock::time_point now);

 private:
  void appendLines(std::string& out, std::string_view text) const;
  void appendStates(std::string& out, std::string_view line) const;
  void begin(WallClock::time_point now);

  const TagSettings settings_;
  std::vector<std::string> hosts_;
  const std::string_view stream_name_;
  const bool overprints_;
  std::string prefix_;  ///< the tag of the current piece
};

}  // namespace pop
