// SPDX-License-Identifier: Apache-2.0
// Calls that the library makes for itself, beside the program's own: on a communicator of all instances that
// the program does not see. For training, which is a library of its own.
#pragma once

#include <functional>
#include <memory>

#include "common/base/status.h"
#include "popdist/communicator.hpp"
#include "popdist/context.hpp"

namespace popdist::internal {

/// Makes that communicator, anew after a failure. Collective: costs and throws as
/// Context::createCommunicator.
void prepareOwnCalls(Context& context);
/// That communicator. prepareOwnCalls() comes first.
Communicator& ownCommunicator(Context& context);

using Abort = std::function<void(const pop::Status& why, int instance)>;

/// Other instances that wait in one of the library's own calls get `why`, of a failure on `instance`, at
/// once; no such call is possible any more before prepareOwnCalls(). Local; throws nothing but
/// std::bad_alloc.
void abortOwnCalls(Context& context, const pop::Status& why, int instance);
/// While what it returns lives, abortOwnCalls() calls `abort`, too: for what the library waits in beside
/// ownCommunicator().
std::shared_ptr<void> alsoAborted(Context& context, Abort abort);
/// The same for the calls of a communicator, which outlives what this returns.
std::shared_ptr<void> alsoAborted(Context& context, Communicator& communicator);

}  // namespace popdist::internal
