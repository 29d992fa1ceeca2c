// SPDX-License-Identifier: Apache-2.0
// Lines out of chunks of bytes; a line without end is cut, so that nobody can fill our memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pop {

class LineSplitter {
 public:
  explicit LineSplitter(std::function<void(const std::string& line)> line) : line_(std::move(line)) {}

  void take(std::string_view bytes) {
    for (const char each : bytes) {
      if (each == '\n' || text_.size() >= kMaxBytes) end();
      if (each != '\n' && each != '\r') text_ += each;
    }
  }

  /// What there is of a last line without newline.
  void end() {
    if (!text_.empty()) line_(std::exchange(text_, {}));
  }

 private:
  static constexpr std::size_t kMaxBytes = 4096;
  std::function<void(const std::string& line)> line_;
  std::string text_;
};

}  // namespace pop
