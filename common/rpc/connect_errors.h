// SPDX-License-Identifier: Apache-2.0
// Why the agent service of a host does not answer, in words that name the cause and what to do about it. gRPC
// has one code for all of it, and texts of its layers.
#pragma once

#include <chrono>
#include <string>

#include "common/base/status.h"

namespace pop::rpc {

struct Dialled {
  std::string host;
  int port = 0;
  bool has_tls = false;
  std::chrono::milliseconds patience{0};
};

/// `why`: how the call ended before there was an answer. What the service itself says stays as it is.
Status explainNoAnswer(const Dialled& dialled, const Status& why);

/// How a call ended that had its answers: what gRPC says of connections in words of ours, the rest as it is.
Status explainLoss(const Status& why);

}  // namespace pop::rpc
