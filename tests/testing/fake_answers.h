// SPDX-License-Identifier: Apache-2.0
// Answers of fake daemons to the calls in proto/calls that a test says nothing of.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "popdistd/access/objects.h"
#include "popdistd/api/api.h"

namespace pop::testing {

using popdistd::Caller;
using popdistd::Reply;

/// An answer of type T with the request's thing, or with its id or name.
template <typename T, typename Request>
T answerWithThingOf(const Request& request) {
  T answer;
  if constexpr (std::is_same_v<T, Request>) {
    answer = request;
  } else if constexpr (requires { answer.CopyFrom(request.allocation()); }) {
    answer.CopyFrom(request.allocation());
  } else if constexpr (requires { answer.set_partition_id(request.requirements().id()); }) {
    answer.set_partition_id(request.requirements().id());
  } else if constexpr (requires { answer.set_name(request.host().name()); }) {
    answer.set_name(request.host().name());
  } else if constexpr (requires { answer.set_name(request.name()); }) {
    answer.set_name(request.name());
  } else if constexpr (requires { answer.set_id(request.id()); }) {
    answer.set_id(request.id());
  }
  return answer;
}

struct FakeAnswers {
  std::vector<std::string> calls;  ///< "alice createCluster cluster c": user, member, object if it is audited
  std::optional<Status> refusal;   ///< of all calls that answer() is called for

  template <typename Request>
  void record(const Caller& caller, const std::string& member, const Request& request) {
    const std::string object = popdistd::objectOf(request);
    calls.push_back(caller.user + ' ' + member + (object.empty() ? "" : ' ' + object));
  }
  template <typename Request, typename T>
  void answer(const Caller& caller, const std::string& member, const Request& request,
              const std::type_identity_t<T>& message, const Reply<T>& reply) {
    record(caller, member, request);
    refusal ? reply(*refusal) : reply(message);
  }
  template <typename Request, typename T>
  void answer(const Caller& caller, const std::string& member, const Request& request,
              const Reply<T>& reply) {
    answer<Request, T>(caller, member, request, answerWithThingOf<T>(request), reply);
  }
};

}  // namespace pop::testing
