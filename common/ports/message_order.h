// SPDX-License-Identifier: Apache-2.0
// Checks the order of numbered messages. Links deliver in order: a repeated message is harmless; a gap means
// that the link can no longer be trusted.
#pragma once

#include <cstdint>
#include <string>

namespace pop {

class MessageOrder {
 public:
  enum class Verdict : std::uint8_t { kNext, kDuplicate, kGap };

  Verdict take(std::uint64_t number) {
    if (number <= last_) return Verdict::kDuplicate;
    if (number != last_ + 1) return Verdict::kGap;
    last_ = number;
    return Verdict::kNext;
  }

  /// After kGap for `number`: "message 5 followed message 3 on its link".
  std::string gapText(std::uint64_t number) const {
    return "message " + std::to_string(number) + " followed message " + std::to_string(last_) +
           " on its link";
  }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace pop
