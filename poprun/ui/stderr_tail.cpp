// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/stderr_tail.h"

#include <algorithm>

#include "common/base/text.h"

namespace pop {
namespace {

// The part of a line that a terminal would show after carriage returns.
std::string_view lastState(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return line.substr(line.rfind('\r') + 1);
}

}  // namespace

void StderrTail::note(int instance, std::string_view text) {
  std::string& tail = tails_.at(static_cast<std::size_t>(instance));
  constexpr std::size_t kKept = kBytes + 1;  // more than is shown: something is missing before that
  if (text.size() >= kKept) {
    tail.assign(text.substr(text.size() - kKept));
    return;
  }
  tail += text;
  if (tail.size() > 2 * kKept) tail.erase(0, tail.size() - kKept);
}

std::vector<std::string> StderrTail::lines(int instance) const {
  std::string_view tail = tails_.at(static_cast<std::size_t>(instance));
  const bool cut = tail.size() > kBytes;
  if (cut) tail.remove_prefix(tail.size() - kBytes);
  while (tail.ends_with('\n') || tail.ends_with('\r')) tail.remove_suffix(1);
  if (tail.empty()) return {};
  std::vector<std::string> lines;
  for (const std::string& line : split(tail, '\n')) lines.emplace_back(lastState(line));
  if (cut && lines.size() > 1) lines.erase(lines.begin());  // its beginning is missing
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLines));
  return lines;
}

}  // namespace pop
