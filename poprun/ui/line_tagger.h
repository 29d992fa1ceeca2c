// SPDX-License-Identifier: Apache-2.0
// Puts in front of each line when it came and whose it is. What a line begins with is made once for a piece
// of many lines, and the lines are copied once.
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

/// For a terminal whose cursor is at the beginning of a line that still shows something.
inline constexpr std::string_view kEraseToEnd = "\x1b[K";

struct TagSettings {
  TagOutput form = TagOutput::kNo;  ///< never kAuto
  bool timestamps = false;
};

/// "2026-11-20T21:46:59.123+01:00", local time.
std::string timestampOf(WallClock::time_point time);

class LineTagger {
 public:
  /// `overprints`: the output is a terminal, where a carriage return begins the line anew. Elsewhere each
  /// state of such a line becomes a line of its own.
  LineTagger(TagSettings settings, Stream stream, bool overprints);

  /// The host of each instance, for kHost.
  void setHosts(std::vector<std::string> hosts) { hosts_ = std::move(hosts); }

  /// Appends to `out` the lines of `text`, each with its tag. Something that is no line at the end of `text`
  /// gets a newline: another instance may come next.
  void append(std::string& out, int instance, std::string_view text, WallClock::time_point now);

  /// The same, of several instances that have all said it: "[0-2,5] ".
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
  std::string prefix_;  ///< of the piece at hand
};

}  // namespace pop
