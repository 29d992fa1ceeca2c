// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/internal/own_calls.h"

#include <utility>

#include "libpopdist/collectives/api/context_impl.h"

namespace popdist::internal {

void prepareOwnCalls(Context& context) {
  context.impl().prepareInternal();
}

Communicator& ownCommunicator(Context& context) {
  return context.impl().internal();
}

void abortOwnCalls(Context& context, const pop::Status& why, int instance) {
  context.impl().abortInternal(why, instance);
}

std::shared_ptr<void> alsoAborted(Context& context, Abort abort) {
  auto& all = context.impl().aborts;
  const auto place = all.insert(all.end(), std::move(abort));
  return {nullptr, [&all, place](void*) { all.erase(place); }};
}

std::shared_ptr<void> alsoAborted(Context& context, Communicator& communicator) {
  return alsoAborted(context, [of = &communicator.impl()](const pop::Status& why, int instance) {
    of->abort(why, instance);
  });
}

}  // namespace popdist::internal
