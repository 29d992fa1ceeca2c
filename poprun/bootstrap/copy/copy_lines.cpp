// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/copy/copy_lines.h"

#include <algorithm>
#include <utility>

#include "common/base/text.h"

namespace pop {
namespace {

using State = model::CopyState;

std::string lineOf(const CopiedHost& host) {
  switch (host.state) {
    case State::kWaiting:
      return host.name + ": waits";
    case State::kCopying:
      return host.name + ": copying, " + std::to_string(host.percent) + " %";
    case State::kDone:
      return host.name + ": copied";
    case State::kFailed:
      return host.name + ": failed";
  }
  return host.name;
}

// Hosts for which there is no room are waiting or done.
int urgency(const CopiedHost& host) {
  return host.state == State::kCopying   ? 0
         : host.state == State::kFailed  ? 1
         : host.state == State::kWaiting ? 2
                                         : 3;
}

}  // namespace

CopyLines::CopyLines(std::vector<std::string> hosts, int rows, int columns,
                     std::function<void(const std::string&)> write)
    : rows_(static_cast<std::size_t>(std::max(rows, 0))),
      columns_(static_cast<std::size_t>(std::max(columns, 20))),
      write_(std::move(write)) {
  for (std::string& name : hosts) hosts_.push_back({std::move(name)});
}

void CopyLines::change(int host, State state, int percent, Clock::time_point now) {
  CopiedHost& changed = hosts_.at(static_cast<std::size_t>(host));
  const bool ended = changed.state != state && (state == State::kDone || state == State::kFailed);
  changed.state = state;
  changed.percent = percent;
  if (ended) ++num_done_;
  if (rows_ == 0) {
    if (ended)
      write_("poprun: " + lineOf(changed) + " (" + std::to_string(num_done_) + " of " +
             counted(static_cast<std::int64_t>(hosts_.size()), "host") + ")\n");
    return;
  }
  stale_ = true;
  if (now - last_drawn_ < kPause) return;
  last_drawn_ = now;
  draw();
}

void CopyLines::finish() {
  if (rows_ > 0 && stale_) draw();
}

void CopyLines::draw() {
  std::string text = drawn_lines_ == 0 ? "" : "\x1b[" + std::to_string(drawn_lines_) + 'A';
  const std::vector<std::string> now = lines();
  for (const std::string& line : now) text += "\r\x1b[K" + line.substr(0, columns_ - 1) + '\n';
  text += "\x1b[J";
  drawn_lines_ = now.size();
  stale_ = false;
  write_(text);
}

std::vector<std::string> CopyLines::lines() const {
  std::vector<CopiedHost> shown(hosts_);
  const std::size_t room = std::max<std::size_t>(rows_, 4) - 2;
  const std::size_t left_out = shown.size() > room ? shown.size() - (room - 1) : 0;
  if (left_out > 0) {
    std::stable_sort(shown.begin(), shown.end(),
                     [](const CopiedHost& a, const CopiedHost& b) { return urgency(a) < urgency(b); });
    shown.resize(shown.size() - left_out);
  }
  std::vector<std::string> texts;
  for (const CopiedHost& host : shown) texts.push_back("poprun: " + lineOf(host));
  if (left_out > 0)
    texts.push_back("poprun: and " + counted(static_cast<std::int64_t>(left_out), "more host") + "; " +
                    std::to_string(num_done_) + " of " + std::to_string(hosts_.size()) + " are done");
  return texts;
}

}  // namespace pop
