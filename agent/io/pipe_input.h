// SPDX-License-Identifier: Apache-2.0
// Offers the stdin input that a controller on another host sends, as a pipe that the stdin feed reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "agent/core/agent_session.h"
#include "common/os/epoll_loop.h"
#include "common/sys/fd.h"

namespace pop::agent {

class PipeInput final : public InputSink {
 public:
  PipeInput(os::EpollLoop& loop, sys::Pipe pipe) : loop_(loop), pipe_(std::move(pipe)) {}
  ~PipeInput() override { stopWriting(); }
  PipeInput(const PipeInput&) = delete;
  PipeInput& operator=(const PipeInput&) = delete;

  /// The pipe's read end.
  int source() const { return pipe_.read_end.get(); }

  void write(std::string bytes) override;
  void end() override;
  std::int64_t read() const override;
  void setOnTaken(std::function<void(std::int64_t bytes)> on_taken) override {
    on_taken_ = std::move(on_taken);
  }

 private:
  void advance();
  void stopWriting();

  os::EpollLoop& loop_;
  sys::Pipe pipe_;
  std::int64_t written_ = 0;  ///< in total, including queued bytes
  std::string waiting_;
  bool ended_ = false;
  bool watching_ = false;
  std::function<void(std::int64_t)> on_taken_;
};

}  // namespace pop::agent
