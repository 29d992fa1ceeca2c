// SPDX-License-Identifier: Apache-2.0
// One call through the guard to the method behind it. Included by this folder only.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "popdistd/access/guard.h"
#include "popdistd/access/objects.h"

namespace pop::popdistd {

/// `name`: of the method in its .proto.
template <typename Interface, typename Request, typename T>
void passCall(Guard& guard, std::string_view name, std::type_identity_t<Interface>& inner,
              void (Interface::*method)(const Caller&, Request, Reply<T>), const Caller& caller,
              Request request, Reply<T> reply) {
  const std::string object = objectOf(request);
  guard.call<T>(caller, ruleOf(name), object, std::move(reply),
                [&](Reply<T> passed) { (inner.*method)(caller, std::move(request), std::move(passed)); });
}

}  // namespace pop::popdistd
