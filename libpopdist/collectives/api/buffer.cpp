// SPDX-License-Identifier: Apache-2.0
#include "popdist/buffer.hpp"

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/error.hpp"

namespace popdist {

// In a forked child the list of free parts would be its own, but the memory would be shared with its parent.
void* allocateShared(Context& context, std::size_t bytes) {
  context.impl().refuseFork("allocateShared");
  pop::Result<void*> memory = context.impl().heap.allocate(bytes);
  if (!memory.ok()) {
    throw popdist_error(static_cast<ErrorCode>(memory.status().code()),
                        "allocateShared: " + memory.status().message());
  }
  return memory.value();
}

void freeShared(Context& context, void* memory) noexcept {
  context.impl().heap.free(memory);
}

}  // namespace popdist
