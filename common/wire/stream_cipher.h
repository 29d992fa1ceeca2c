// SPDX-License-Identifier: Apache-2.0
// What the bytes of a message stream go through on their way. tls_cipher.h is the one that there is; programs
// that speak over streams which are safe by themselves link none.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::wire {

class StreamCipher {
 public:
  virtual ~StreamCipher() = default;

  /// Takes what has arrived: appends what it says to `plain`, and what has to be sent because of it to
  /// `wire`, also when it fails: then the other side is told why. An error is the stream's end.
  virtual Status receive(std::string_view arrived, std::string& plain, std::string& wire) = 0;

  /// Appends what carries `plain` to `wire`. Before the two sides know each other nothing does: it waits.
  virtual void send(std::string_view plain, std::string& wire) = 0;
};

}  // namespace pop::wire
