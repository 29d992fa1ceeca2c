// SPDX-License-Identifier: Apache-2.0
// The inside of AsyncCommunicator, for the rest of the library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "libpopdist/collectives/async/progress.h"
#include "popdist/async.hpp"

namespace popdist {

class AsyncCommunicator::Impl {
 public:
  explicit Impl(std::unique_ptr<Communicator>&& communicator) : progress(std::move(communicator)) {}

  Pending issue(const std::string& name, const group::CollectiveCall& call, Timeout timeout,
                std::function<void()> on_result = {}) {
    return Pending(progress.submit(name, call, timeout, std::move(on_result)));
  }

  async::Progress progress;
};

}  // namespace popdist
