// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "bench/overlap_speed/backward.h"
#include "common/sys/fd.h"
#include "popdist/cluster_resolver.hpp"
#include "tests/testing/test_hosts.h"

namespace pop::bench {
namespace {

constexpr int kHosts = 2;

Status shape(const testing::TestHosts& hosts, int mbit_per_s) {
  for (int host = 0; host < kHosts; ++host) {
    const auto output = hosts.run(host, "tc qdisc replace dev eth0 root tbf rate " +
                                            std::to_string(mbit_per_s) + "mbit burst 256kb latency 50ms");
    if (output.exit_code != 0) return internalError("tc: " + output.text);
  }
  return Status();
}

/// The instance's life, in a child that is on its host. Instance 0 writes its times to `out`.
int instance(const testing::TestHosts& hosts, int host, const BackwardSetting& setting, int out) try {
  hosts.enter(host);
  const popdist::train::SimpleResolver cluster({hosts.address(0) + ":3737", hosts.address(1) + ":3737"},
                                               host);
  const auto context = popdist::train::contextFor(&cluster);
  const std::vector<BackwardTimes> rounds = measureBackward(*context, setting);
  const std::string bytes(reinterpret_cast<const char*>(rounds.data()), rounds.size() * sizeof(rounds[0]));
  context->world().barrier();
  return host != 0 || sys::writeAll(out, bytes).ok() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "instance %d: %s\n", host, error.what());
  return 1;
}

}  // namespace

Result<std::vector<BackwardTimes>> measureOverTwoHosts(int mbit_per_s, const BackwardSetting& setting) {
  const testing::TestHosts hosts(kHosts);
  POP_RETURN_IF_ERROR(shape(hosts, mbit_per_s));
  POP_ASSIGN_OR_RETURN(sys::Pipe pipe, sys::makePipe());
  std::array<pid_t, kHosts> children{};
  for (int host = 0; host < kHosts; ++host) {
    children[static_cast<std::size_t>(host)] = ::fork();
    if (children[static_cast<std::size_t>(host)] == 0)
      ::_exit(instance(hosts, host, setting, pipe.write_end.get()));
  }
  pipe.write_end.reset();
  std::vector<BackwardTimes> rounds(static_cast<std::size_t>(setting.rounds));
  auto* at = reinterpret_cast<char*>(rounds.data());
  std::size_t left = rounds.size() * sizeof(rounds[0]);
  for (ssize_t got = 0; left > 0 && (got = ::read(pipe.read_end.get(), at, left)) > 0;) {
    at += got;
    left -= static_cast<std::size_t>(got);
  }
  bool succeeded = left == 0;
  for (const pid_t child : children) {
    int status = 0;
    succeeded = child > 0 && ::waitpid(child, &status, 0) == child && status == 0 && succeeded;
  }
  if (!succeeded) return internalError("an instance has failed");
  return rounds;
}

}  // namespace pop::bench
