// SPDX-License-Identifier: Apache-2.0
#include "common/rpc/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdlib>

namespace pop::rpc {

void keepGrpcQuiet() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace pop::rpc
