// SPDX-License-Identifier: Apache-2.0
// A sink that keeps the instances' output, and is full when the test says so.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/ports/agent_port.h"

namespace pop::testing {

class FakeOutput final : public OutputSink {
 public:
  bool write(int instance, Stream stream, std::string_view text) override {
    lines.push_back(std::to_string(instance) + (stream == Stream::kStdout ? " out: " : " err: ") +
                    std::string(text));
    bytes += text.size();
    return !full;
  }
  void setOnReady(std::function<void()> on_ready) override { on_ready_ = std::move(on_ready); }

  void drain() {
    full = false;
    if (on_ready_) on_ready_();
  }

  std::vector<std::string> lines;
  std::size_t bytes = 0;
  bool full = false;

 private:
  std::function<void()> on_ready_;
};

}  // namespace pop::testing
