// SPDX-License-Identifier: Apache-2.0
// The calls of clients, as one interface: gRPC and HTTP only carry it. Semantics:
// proto/popdist/v1/controller.proto. All of it is called on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "popdistd/api/caller.h"
#include "popdistd/api/shown_change.h"
#include "popdistd/api/source.h"
#include "proto/popdist/v1/controller.pb.h"

namespace pop::popdistd {

namespace v1 = ::popdist::v1;

/// Called once, on the loop's thread; possibly before the call that was given it returns.
template <typename T>
using Reply = std::function<void(Result<T>)>;

class Api {
 public:
  virtual ~Api() = default;

#define CALL(Name, member, Request, Answer, ...) \
  virtual void member(const Caller& caller, v1::Request request, Reply<v1::Answer> reply) = 0;
#include "proto/calls/controller.def"

  /// The path of a temporary file with the copy, for the transport to send and remove.
  virtual void backup(const Caller& caller, v1::Nothing, Reply<std::string> reply) = 0;

  /// `ready`: see Source.
  using Ready = std::function<void()>;
  virtual Result<std::unique_ptr<Source<ShownChange>>> watch(const Caller& caller,
                                                             const v1::WatchRequest& request,
                                                             Ready ready) = 0;
  virtual Result<std::unique_ptr<Source<v1::Record>>> logs(const Caller& caller,
                                                           const v1::LogsRequest& request, Ready ready) = 0;
};

/// The interface behind the guard, which has submitted jobs written down by their numbers.
class NumberingApi : public Api {
 public:
  /// The same as submit(). Once the job is taken in, or is there by an earlier request of this id, its number
  /// goes to `taken`, before the call returns; after an error, never.
  virtual void submitTelling(const Caller& caller, v1::SubmitRequest request, Reply<v1::SubmitReply> reply,
                             const std::function<void(std::int64_t job)>& taken) = 0;
};

}  // namespace pop::popdistd
