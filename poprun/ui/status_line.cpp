// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/status_line.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pop {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

StatusLine::StatusLine(Loop& loop, int num_instances, Terminal terminal)
    : loop_(loop),
      terminal_(std::move(terminal)),
      instances_(static_cast<std::size_t>(num_instances), State::kStarting) {
  drawAfter(kFirstAfter);
}

void StatusLine::note(int instance, State state) {
  instances_.at(static_cast<std::size_t>(instance)) = state;
  if (!drawn_.empty()) drawAfter(kPause);
}

void StatusLine::beginAttempt() {
  std::fill(instances_.begin(), instances_.end(), State::kStarting);
  if (!drawn_.empty()) drawAfter(kPause);
}

std::string_view StatusLine::erase() {
  if (drawn_.empty()) return {};
  drawn_.clear();
  drawAfter(kPause);
  return kEraseLine;
}

void StatusLine::stop() {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
}

void StatusLine::drawAfter(std::chrono::milliseconds delay) {
  if (timer_) return;
  timer_ = loop_.postAfter(delay, [this] {
    timer_.reset();
    draw();
  });
}

void StatusLine::draw() {
  const std::string now = text();
  if (now == drawn_) return;
  if (terminal_.draw(std::string(kEraseLine) + now)) {
    drawn_ = now;
  } else {
    drawAfter(kPause);
  }
}

std::string StatusLine::text() const {
  static constexpr std::array kNames{"starting", "running", "done"};
  std::array<int, kNames.size()> counts{};
  for (const State state : instances_) ++counts.at(static_cast<std::size_t>(state));
  std::string text;
  for (std::size_t state = 0; state < kNames.size(); ++state) {
    if (counts.at(state) == 0) continue;
    text += text.empty() ? "poprun: " : ", ";
    text += std::to_string(counts.at(state)) + ' ' + kNames.at(state);
  }
  // Leaves the last column free: some terminals wrap to the next line when it is written.
  return text.substr(0, std::max<std::size_t>(terminal_.columns(), 2) - 1);
}

}  // namespace pop
