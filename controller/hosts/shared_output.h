// SPDX-License-Identifier: Apache-2.0
// Shares one sink among the outputs of several agents. Each agent gets a sink of its own, and is notified
// when the shared one can take more.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"

namespace pop {

class SharedOutput {
 public:
  /// `sink` must outlive this.
  explicit SharedOutput(OutputSink& sink) : sink_(sink) {
    sink_.setOnReady([this] { ready(); });
  }
  ~SharedOutput() { sink_.setOnReady(nullptr); }
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// Makes a sink for one more agent. It lives as long as this.
  OutputSink& add() { return *parts_.emplace_back(std::make_unique<Part>(sink_)); }

 private:
  class Part final : public OutputSink {
   public:
    explicit Part(OutputSink& sink) : sink_(sink) {}
    bool write(int instance, Stream stream, std::string_view text) override {
      const bool more = sink_.write(instance, stream, text);
      if (!more) waiting_ = true;
      return more;
    }
    void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }
    void ready() {
      if (std::exchange(waiting_, false) && on_ready_) on_ready_();
    }

   private:
    OutputSink& sink_;
    std::function<void()> on_ready_;
    bool waiting_ = false;  ///< for the shared sink to take more
  };

  void ready() {
    for (const std::unique_ptr<Part>& part : parts_) part->ready();
  }

  OutputSink& sink_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace pop
