// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_environment.h"

#include <cstdlib>
#include <utility>

#include "libpopdist/collectives/context/context_state.h"
#include "libpopdist/pod/device/replica_map.h"
#include "pod/collectives/gcl_options.h"

namespace popdist::pod {
namespace {

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string() : text;
}

}  // namespace

std::string methodOfEnvironment() {
  pop::Result<std::string> method = pop::pod::methodOfGclOptions(variable("GCL_OPTIONS"));
  context::throwIfFailed({method.status()}, kAttach);
  return std::move(*method);
}

std::string cacheDirectory() {
  return variable("POPDIST_EXECUTABLE_CACHE_PATH");
}

}  // namespace popdist::pod
