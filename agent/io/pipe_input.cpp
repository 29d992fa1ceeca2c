// SPDX-License-Identifier: Apache-2.0
#include "agent/io/pipe_input.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace pop::agent {

void PipeInput::write(std::string bytes) {
  written_ += static_cast<std::int64_t>(bytes.size());
  waiting_ += bytes;
  advance();
}

void PipeInput::end() {
  ended_ = true;
  advance();
}

std::int64_t PipeInput::read() const {
  int in_pipe = 0;
  ::ioctl(pipe_.read_end.get(), FIONREAD, &in_pipe);
  return written_ - static_cast<std::int64_t>(waiting_.size()) - in_pipe;
}

// Writes as much as the pipe takes. This process holds its read end too, so there is always a reader.
void PipeInput::advance() {
  std::int64_t taken = 0;
  while (!waiting_.empty()) {
    const ssize_t written = ::write(pipe_.write_end.get(), waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    waiting_.erase(0, static_cast<std::size_t>(written));
    taken += written;
  }
  if (!waiting_.empty() && !std::exchange(watching_, true))
    loop_.watchWritable(pipe_.write_end.get(), [this] { advance(); });
  if (waiting_.empty()) {
    stopWriting();
    if (ended_) pipe_.write_end.reset();
  }
  if (taken > 0 && on_taken_) on_taken_(taken);
}

void PipeInput::stopWriting() {
  if (std::exchange(watching_, false)) loop_.unwatch(pipe_.write_end.get());
}

}  // namespace pop::agent
