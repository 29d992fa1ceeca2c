// SPDX-License-Identifier: Apache-2.0
// Requests to popdistd about users, tokens and its audit log, one blocking call each:
// proto/popdist/v1/access.proto. Errors have the server's words; kUnavailable: it cannot be reached.
#pragma once

#include <chrono>
#include <memory>

#include "common/base/status.h"
#include "popctl/rpc/server.h"
#include "proto/popdist/v1/access.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

/// From any thread.
class AccessClient {
 public:
  AccessClient(Server server, std::chrono::milliseconds timeout);
  ~AccessClient();
  AccessClient(const AccessClient&) = delete;
  AccessClient& operator=(const AccessClient&) = delete;

  const Server& server() const;

#define CALL(Name, member, Request, Answer, ...) Result<v1::Answer> member(const v1::Request& request);
#include "proto/calls/access.def"

 private:
  struct Stubs;

  const std::unique_ptr<Stubs> stubs_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace pop::popctl
