// SPDX-License-Identifier: Apache-2.0
// One side of TLS without a socket.
#pragma once

#include <memory>
#include <string>

#include "common/tls/tls_cipher.h"

namespace pop::testing {

// One side, and what it has heard and failed with.
struct TlsSide {
  std::unique_ptr<tls::TlsCipher> cipher;
  std::string outgoing;
  std::string heard;
  Status status;

  void take(const std::string& bytes) {
    if (status.ok() && !bytes.empty()) status = cipher->receive(bytes, heard, outgoing);
  }
};

}  // namespace pop::testing
