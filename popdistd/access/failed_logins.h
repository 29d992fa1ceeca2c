// SPDX-License-Identifier: Apache-2.0
// Counts wrong tokens and keys by the address that they come from. Not by the user that they name: any client
// could keep that user out. One thread at a time.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "common/base/status.h"

namespace pop::popdistd {

class FailedLogins {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr int kMost = 20;  ///< within a minute
  static constexpr std::size_t kMostAddresses = 4096;

  /// kResourceExhausted: there were too many, and when it goes on.
  Status check(const std::string& address, Time now) const;
  void failed(const std::string& address, Time now);
  std::size_t addresses() const { return counts_.size(); }

 private:
  struct Count {
    Time since;
    int failures = 0;
  };

  std::map<std::string, Count> counts_;
};

}  // namespace pop::popdistd
