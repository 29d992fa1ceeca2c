// SPDX-License-Identifier: Apache-2.0
#include "poprun/bootstrap/command_log.h"

#include "common/base/text.h"

namespace pop {
namespace {

constexpr std::size_t kMaxLines = 5;

}  // namespace

void CommandLog::said(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  lines_.push_back(line);
  if (lines_.size() > kMaxLines) lines_.pop_front();
}

void CommandLog::ended(int exit_code) {
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  exit_code_ = exit_code;
  changed_.notify_all();
}

std::string CommandLog::whyEnded(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [this] { return ended_; });
  std::string text;
  for (const std::string& line : lines_) text += (text.empty() ? "" : "; ") + printable(line);
  if (ended_ && exit_code_ >= 0)
    text += (text.empty() ? "" : " ") + ("(exit code " + std::to_string(exit_code_) + ')');
  return text.empty() ? "the connection was closed" : text;
}

}  // namespace pop
