// SPDX-License-Identifier: Apache-2.0
// State of a fence: the instances in it, the values put for it, and each instance's answer. No I/O and no
// clock: the server tells what happened and sends what comes out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "libpopdist/collectives/context/link.h"

namespace popdist::cluster {

/// The answer to a call of `instance`: the fence is open, or why not.
struct Answer {
  int instance = -1;
  std::string call;  ///< its number, as the instance gave it
  context::LinkError error{};
};

class Fences {
 public:
  using Values = std::vector<std::pair<std::string, std::string>>;  ///< in the order of the puts

  /// `names` are those of the instances in errors: "instance 1 (worker:1 at b:3737)".
  explicit Fences(std::vector<std::string> names);

  void put(std::string key, std::string value);
  /// The values that were put before the fence that has just opened. Once.
  Values takeReleased() { return std::exchange(released_, {}); }

  /// Send the answers that these return after takeReleased().
  std::vector<Answer> enter(int instance, std::string call, std::string tag);
  std::vector<Answer> ended(int instance, const std::string& text);
  /// The time of an instance's call is up. `hint` follows the names of those that are missing.
  std::vector<Answer> timeIsUp(int instance, const std::string& hint);

  /// No fence has opened yet: not all have come.
  bool isFirst() const { return opened_ == 0; }

 private:
  struct Entry {
    std::string call;
    std::string tag;
  };

  std::vector<Answer> answerAll(const context::LinkError& error);
  context::LinkError whoIsMissing() const;

  const std::vector<std::string> names_;
  std::map<int, Entry> inside_;
  std::optional<context::LinkError> first_end_;
  Values staged_;
  Values released_;
  std::size_t staged_bytes_ = 0;
  std::uint64_t opened_ = 0;
};

}  // namespace popdist::cluster
