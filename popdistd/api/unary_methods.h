// SPDX-License-Identifier: Apache-2.0
// The calls that have one answer, as members of their interfaces, for what carries or checks all of them.
// Left out are those that take time (job_wait.h) and those that stream.
#pragma once

#include "popdistd/api/access_api.h"
#include "popdistd/api/api.h"
#include "popdistd/api/pods_api.h"

namespace pop::popdistd {

/// Calls `visit(name, method)` for each: its name in controller.proto and the member of Api.
template <typename Visit>
void forEachUnaryMethod(Visit&& visit) {
#define CALL(Name, member, ...) visit(#Name, &Api::member);
#include "proto/calls/controller.def"
}

/// The same for PodsApi, by the names in pods.proto: Controller has none of them.
template <typename Visit>
void forEachUnaryPodsMethod(Visit&& visit) {
#define CALL(Name, member, ...) visit(#Name, &PodsApi::member);
#include "proto/calls/pods.def"
}

/// The same for AccessApi, by the names in access.proto.
template <typename Visit>
void forEachUnaryAccessMethod(Visit&& visit) {
#define CALL(Name, member, ...) visit(#Name, &AccessApi::member);
#include "proto/calls/access.def"
}

}  // namespace pop::popdistd
