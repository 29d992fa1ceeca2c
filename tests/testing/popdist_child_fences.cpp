// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/popdist_child_fences.h"

#include <chrono>
#include <fstream>

#include "popdist/popdist.hpp"

namespace popdist::testing {
namespace {

constexpr int kTimes = 14;  // 70 MiB in all

// True: no other instance has come at once.
bool isGivenUp(Context& context) {
  const std::chrono::milliseconds timeout = context.timeout();
  context.setTimeout(std::chrono::milliseconds(1));
  try {
    context.fence();
  } catch (const popdist_error& error) {
    if (error.code() != ErrorCode::kDeadlineExceeded) throw;
    context.setTimeout(timeout);
    return true;
  }
  return false;
}

}  // namespace

int retryFence(const std::string& fifo) {
  Context& context = Context::fromEnvironment();
  if (getInstanceIndex() != 0) {
    std::ifstream(fifo).get();
    return 0;
  }
  for (int time = 0; time < kTimes; ++time) {
    context.put("data", std::string(5 << 20, 'x'));
    if (!isGivenUp(context)) return 1;
  }
  std::ofstream(fifo).put('x');
  return 0;
}

int fenceOf(std::size_t mib) {
  Context& context = Context::fromEnvironment();
  context.put("from " + std::to_string(getInstanceIndex()), std::string(mib << 20, 'x'));
  context.fence();
  return 0;
}

}  // namespace popdist::testing
