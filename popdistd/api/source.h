// SPDX-License-Identifier: Apache-2.0
// A stream of messages to one reader, who takes them at its own speed: so nothing queues up for one that does
// not read.
#pragma once

#include <optional>

#include "common/base/status.h"

namespace pop::popdistd {

/// Lives on the loop's thread; to destroy it ends the stream. Its maker is told by `ready`, on the loop, that
/// next() has something after it had nothing.
template <typename T>
class Source {
 public:
  virtual ~Source() = default;

  /// The next message. Nothing: there is none yet, or ended() says that there will be none.
  virtual std::optional<T> next() = 0;

  /// Once there is nothing more to come: how the stream ends.
  virtual std::optional<Status> ended() const = 0;
};

}  // namespace pop::popdistd
