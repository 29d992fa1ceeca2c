// SPDX-License-Identifier: Apache-2.0
// Requests to popdistd, one blocking call each: proto/popdist/v1/controller.proto. Errors have the
// server's words; kUnavailable: it cannot be reached.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "popctl/rpc/server.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

struct Connection;

/// A deadline; nothing: there is none.
using Until = std::optional<std::chrono::system_clock::time_point>;

/// From any thread.
class ControllerClient {
 public:
  /// `timeout`: of each call but wait() and streams.
  ControllerClient(Server server, std::chrono::milliseconds timeout);
  ~ControllerClient();
  ControllerClient(const ControllerClient&) = delete;
  ControllerClient& operator=(const ControllerClient&) = delete;

  const Server& server() const;

  /// For kUntilNextAttempt, or until more is known of a connection that is lost. From any thread.
  void waitForNextAttempt();
  /// True if there is no connection, and the last attempt at one has failed. From any thread.
  bool isConnecting() const;
  Connection& connection() { return *connection_; }

#define CALL(Name, member, Request, Answer, ...) Result<v1::Answer> member(const v1::Request& request);
#include "proto/calls/controller.def"

  /// `until`: kDeadlineExceeded then; missing: after the timeout.
  Result<v1::SubmitReply> submit(const v1::SubmitRequest& request, Until until);
  /// The same; missing: never.
  Result<v1::JobInfo> wait(const v1::JobRef& job, Until until);
  /// All pages.
  Result<v1::ListHostsReply> allHosts();

  /// Streams, to their end; `each` returns false to end one (kOk).
  Status watch(const v1::WatchRequest& request, const std::function<bool(const v1::Change&)>& each,
               Until until = std::nullopt);
  Status logs(const v1::LogsRequest& request, const std::function<bool(const v1::Record&)>& each,
              std::optional<std::chrono::system_clock::time_point> until = std::nullopt);
  Status backup(const std::function<bool(const std::string& bytes)>& each);

 private:
  const std::unique_ptr<Connection> connection_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace pop::popctl
