// SPDX-License-Identifier: Apache-2.0
// A log that takes a store's changes before they count, for other processes to have them, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/status.h"

namespace pop::popdistd {

class ChangeLog {
 public:
  virtual ~ChangeLog() = default;

  /// Durable once it returns. Numbers are without gaps. After an error nothing of it is there, and its number
  /// is free.
  virtual Status append(std::int64_t sequence, std::string_view changes) = 0;
  /// The store has it, too.
  virtual void kept(std::int64_t sequence, std::size_t num_bytes) = 0;
  /// The store could not keep what was appended: it is of no use any more.
  virtual void diverged(const Status& why) = 0;
};

}  // namespace pop::popdistd
