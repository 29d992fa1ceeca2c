// SPDX-License-Identifier: Apache-2.0
// Bounds of connections: of all, and of those of one address whose callers are not known yet. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/base/status.h"

namespace pop::popdistd {

struct ConnectionLimits {
  int most = 16'384;              ///< of all
  int most_unknown = 1'024;       ///< with callers that are not known yet
  int most_unknown_of_one = 256;  ///< of one address
  /// An address may always have so many, however many unknown ones others have: no crowd locks others out.
  int always_of_one = 8;
};

/// `limits` where the process may have `most_descriptors`: some are for the store, HTTP and users of this
/// machine.
ConnectionLimits limitsWithin(std::size_t most_descriptors, ConnectionLimits limits = {});

/// One thread at a time.
class Shares {
 public:
  explicit Shares(ConnectionLimits limits) : limits_(limits) {}

  /// Ok: one more of `address` may come. kResourceExhausted: there are too many.
  Status room(const std::string& address) const;
  /// Counts one whose caller is unknown.
  void take(const std::string& address);
  /// One of `address` that was counted so is known.
  void becomesKnown(const std::string& address);
  /// One has ended.
  void giveBack(const std::string& address, bool is_known);

 private:
  const ConnectionLimits limits_;
  std::map<std::string, int> unknown_of_;  ///< by address
  int count_ = 0;
  int unknown_ = 0;
};

}  // namespace pop::popdistd
