// SPDX-License-Identifier: Apache-2.0
// The beginning of an accepted connection: takes the header off, if another popdistd has passed it on, and
// leaves everything else to TLS or HTTP.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "popdistd/net/header_check.h"

namespace pop::popdistd {

/// One thread at a time. `socket` does not block, and stays the caller's.
class Arrival {
 public:
  Arrival(std::shared_ptr<HeaderCheck> check, int socket, End peer)
      : check_(std::move(check)), socket_(socket), peer_(std::move(peer)) {}
  ~Arrival();
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  /// To be called when the socket is readable, until it returns something. The result is the client that the
  /// header names, or else the socket's peer. Nothing: more has to come. An error: the connection has ended,
  /// or its header is not to be believed (which the log has); the caller closes it.
  Result<std::optional<End>> look();

  const End& peer() const { return peer_; }

 private:
  const std::shared_ptr<HeaderCheck> check_;
  const int socket_;
  const End peer_;
  std::string header_;  ///< as far as it has come
};

}  // namespace pop::popdistd
