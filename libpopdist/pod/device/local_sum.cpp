// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/local_sum.h"

#include "popdist/error.hpp"

namespace popdist::pod {

void LocalSum::run(const DeviceTensors& tensors) {
  if (broken_)
    refuse(tensors.operation(), pop::failedPrecondition("an earlier call on this Pod failed: " + *broken_));
  if (fork_ != pop::sys::forksOfThisProcess())
    refuse(tensors.operation(),
           pop::failedPrecondition("this process was forked from the one that owns the Pod"));
  if (tensors.local.size() < 2) return;
  const plan::Range part = tensors.parts.empty() ? plan::Range{0, tensors.count} : tensors.parts.front();
  tensors_.clear();
  for (void* const tensor : tensors.local)
    tensors_.push_back(static_cast<std::byte*>(tensor) + part.begin * sizeOf(tensors.type));
  const std::span<std::byte* const> all(tensors_);
  fold_.run(tensors.count, tensors.type, part, tensors_, tensors.parts.empty() ? all : all.first(1));
}

void LocalSum::refuse(plan::Operation call, const pop::Status& why) const {
  const std::string name = nameOf(call);
  throw popdist_error(static_cast<ErrorCode>(why.code()), name + ": " + why.message(),
                      {.rank = 0, .peer = -1, .operation = name});
}

void LocalSum::abort(plan::Operation call, const pop::Status& why) {
  broken_ = why.message();
  LocalSum::refuse(call, why);
}

}  // namespace popdist::pod
