// SPDX-License-Identifier: Apache-2.0
#include "runner/program/program.h"

#include <unistd.h>

#include <cstdio>

#include "common/base/text.h"
#include "common/contract/exit_code.h"
#include "common/contract/version.h"
#include "common/sys/kept_memory.h"
#include "common/sys/private_memory.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/host.pb.h"
#include "runner/program/feeder.h"
#include "runner/program/job_place.h"
#include "runner/program/job_start.h"
#include "runner/store/job_directory.h"

namespace pop::runner {
namespace {

namespace v1 = ::popdist::v1;

constexpr const char* kUsage =
    "usage: popdist-runner --directory DIR   do what the agent service orders over stdin with the job in "
    "DIR\n"
    "       popdist-runner --version\n";

// One that runs is not removed under its runner.
Status removeJob(const std::string& directory) {
  const Result<sys::Fd> lock = lockJob(directory);
  if (lock.code() == Code::kAlreadyExists) return lock.status();
  return emptyPlace(directory);
}

Result<v1::HostOrder> firstOrder() {
  // A spec may have that many bytes; and there are fields around it.
  constexpr std::size_t kMostBytes = wire::kMaxMessageBytes + (1 << 20);
  Result<std::string> message = wire::readMessage(STDIN_FILENO, kMostBytes);
  if (!message.ok()) return Status(message.status()).during("reading the agent service's first order");
  v1::HostOrder order;
  if (!order.ParseFromString(message.value()))
    return invalidArgument("the agent service's first order is malformed");
  return order;
}

Status carryOut(const v1::HostOrder& order, const std::string& directory) {
  switch (order.body_case()) {
    case v1::HostOrder::kStart:
      return startJob(directory, order.start());
    case v1::HostOrder::kFeed:
      return feed(directory);
    case v1::HostOrder::kRemove:
      return removeJob(directory);
    default:
      return invalidArgument("the agent service's first order is not to start, to feed or to remove a job");
  }
}

Status serve(const std::string& directory, bool& feeds) {
  POP_ASSIGN_OR_RETURN(const v1::HostOrder order, firstOrder());
  feeds = order.has_feed();
  const Status checked = checkPlace(directory);
  if (checked.code() == Code::kNotFound && order.has_remove()) return {};
  POP_RETURN_IF_ERROR(checked);
  return carryOut(order, directory);
}

}  // namespace

int runProgram(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--version"})
    return std::printf("popdist-runner %s\n", contract::kVersion) < 0;
  if (arguments.size() != 2 || arguments[0] != "--directory" || !arguments[1].starts_with('/')) {
    std::fputs(kUsage, stderr);
    return contract::kExitLauncherFailed;
  }
  sys::keepFreedMemory();
  bool feeds = false;
  Status served = sys::keepMemoryPrivate();  // the job runs as the same user
  if (served.ok()) served = serve(arguments[1], feeds);
  if (served.ok()) return 0;
  std::fprintf(stderr, "popdist-runner: %s\n", printable(served.message()).c_str());
  return feeds && served.code() == Code::kNotFound ? kExitNoRecords : contract::kExitLauncherFailed;
}

}  // namespace pop::runner
