// SPDX-License-Identifier: Apache-2.0
// Splits chunks of bytes into lines. Cuts overlong lines, to bound the memory they take.
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

  /// The unfinished last line.
  void end() {
    if (!text_.empty()) line_(std::exchange(text_, {}));
  }

 private:
  static constexpr std::size_t kMaxBytes = 4096;
  std::function<void(const std::string& line)> line_;
  std::string text_;
};

}  // namespace pop
