// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/line_tagger.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace pop {

std::string timestampOf(WallClock::time_point time) {
  const std::time_t seconds = WallClock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  const auto milliseconds =
      std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count() % 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  const long offset_minutes = std::abs(local.tm_gmtoff / 60);
  std::array<char, 64> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &local);
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%s.%03d%c%02ld:%02ld", date.data(), static_cast<int>(milliseconds),
                local.tm_gmtoff < 0 ? '-' : '+', offset_minutes / 60, offset_minutes % 60);
  return text.data();
}

LineTagger::LineTagger(TagSettings settings, Stream stream, bool overprints)
    : settings_(settings),
      stream_name_(stream == Stream::kStdout ? "stdout" : "stderr"),
      overprints_(overprints) {}

void LineTagger::begin(WallClock::time_point now) {
  prefix_.clear();
  if (settings_.timestamps) prefix_ += timestampOf(now) + ' ';
}

void LineTagger::append(std::string& out, int instance, std::string_view text, WallClock::time_point now) {
  begin(now);
  switch (settings_.form) {
    case TagOutput::kAuto:
    case TagOutput::kNo:
      break;
    case TagOutput::kInstance:
      ((prefix_ += '[') += std::to_string(instance)) += "] ";
      break;
    case TagOutput::kHost:
      prefix_ += hosts_.at(static_cast<std::size_t>(instance));
      ((prefix_ += ':') += std::to_string(instance)) += ": ";
      break;
    case TagOutput::kMpi:
      ((((prefix_ += "[1,") += std::to_string(instance)) += "]<") += stream_name_) += ">:";
      break;
  }
  appendLines(out, text);
}

void LineTagger::appendFolded(std::string& out, const std::string& instances, std::string_view text,
                              WallClock::time_point now) {
  begin(now);
  if (settings_.form != TagOutput::kNo) ((prefix_ += '[') += instances) += "] ";
  appendLines(out, text);
}

void LineTagger::appendLines(std::string& out, std::string_view text) const {
  const bool has_states = text.find('\r') != std::string_view::npos;
  if (!has_states && prefix_.empty()) {
    out += text;
  } else {
    while (!text.empty()) {
      const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
      if (has_states) {
        appendStates(out, text.substr(0, line));
      } else {
        (out += prefix_).append(text.data(), line);
      }
      text.remove_prefix(line);
    }
  }
  const bool overprinted = overprints_ && out.ends_with('\r');
  if (!out.ends_with('\n') && !overprinted) out += '\n';
}

// Tags each state of a line with carriage returns, such as that of a progress bar. Loses no byte.
void LineTagger::appendStates(std::string& out, std::string_view line) const {
  while (!line.empty()) {
    std::size_t end = line.find('\r');
    // "\r\n" ends a line, also with several carriage returns.
    if (end != std::string_view::npos) end = line.find_first_not_of('\r', end);
    if (end == std::string_view::npos || line[end] == '\n') end = line.size();
    (out += prefix_).append(line.data(), end);
    line.remove_prefix(end);
    if (!line.empty()) out += overprints_ ? kEraseToEnd : std::string_view("\n");
  }
}

}  // namespace pop
