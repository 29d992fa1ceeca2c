// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/pod/device/local_sum.h"

#include "libpopdist/src/plan/operation.h"
#include "popdist/error.hpp"

namespace popdist::pod {

void LocalSum::run(const DeviceTensors& tensors) {
  if (broken_) refuse(pop::failedPrecondition("an earlier call on this Pod failed: " + *broken_));
  if (fork_ != pop::sys::forksOfThisProcess())
    refuse(pop::failedPrecondition("this process was forked from the one that owns the Pod"));
  if (tensors.local.size() < 2) return;
  tensors_.clear();
  for (void* const tensor : tensors.local) tensors_.push_back(static_cast<std::byte*>(tensor));
  fold_.run(tensors.count, tensors.type, {0, tensors.count}, tensors_, tensors_);
}

void LocalSum::refuse(const pop::Status& why) const {
  const std::string name = nameOf(plan::kDeviceAllReduce);
  throw popdist_error(static_cast<ErrorCode>(why.code()), name + ": " + why.message(),
                      {.rank = 0, .peer = -1, .operation = name});
}

void LocalSum::abort(const pop::Status& why) {
  broken_ = why.message();
  LocalSum::refuse(why);
}

}  // namespace popdist::pod
