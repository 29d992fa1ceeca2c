// SPDX-License-Identifier: Apache-2.0
// A program that logs by its own gRPC library and runs on backend grpc beside it.
#include <grpc/support/log.h>

#include <atomic>
#include <span>
#include <string_view>

#include "popdist/popdist.hpp"

namespace {

constexpr const char* kWord = "a word of the program's";
std::atomic<bool> heard{false};  // by whichever thread of gRPC's

}  // namespace

int main() {
  gpr_set_log_function([](gpr_log_func_args* line) {
    if (std::string_view(line->message) == kWord) heard = true;
  });
  popdist::registerBackend("grpc");
  float value = 1;
  popdist::Context::fromEnvironment().world().allReduce(std::span(&value, 1));
  gpr_log(GPR_ERROR, "%s", kWord);
  return heard ? 0 : 1;
}
