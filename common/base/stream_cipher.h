// SPDX-License-Identifier: Apache-2.0
// Transforms the bytes of a message stream. tls_cipher.h is the only implementation; programs whose streams
// are secure by themselves link none.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop {

class StreamCipher {
 public:
  virtual ~StreamCipher() = default;

  /// Decodes received bytes: appends the plain data to `plain`, and any reply for the peer to `wire`, also on
  /// failure, so that the peer learns the reason. An error ends the stream.
  virtual Status receive(std::string_view arrived, std::string& plain, std::string& wire) = 0;

  /// Encodes `plain` and appends it to `wire`. Data sent before the handshake is complete waits.
  virtual void send(std::string_view plain, std::string& wire) = 0;
};

}  // namespace pop
