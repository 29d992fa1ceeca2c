// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/held_partition.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/exit_code.h"
#include "common/log/log.h"
#include "common/os/helper_program.h"
#include "common/sys/fd.h"
#include "common/sys/host_name.h"
#include "common/sys/own_program.h"
#include "poprun/command/command_line.h"

namespace pop {
namespace {

struct Holder {
  os::HelperProgram popctl;
  sys::Fd hold;   ///< its stdin: it holds the partition until this is closed
  sys::Fd ready;  ///< its stdout: the partition's name, once it is ready
};

struct HeldPartition {
  std::string name;   ///< empty: popctl has ended, and has said why
  bool made = false;  ///< for this job
};

std::string serverOf(const model::PartitionRequest& request) {
  const bool is_ipv6 = request.server_host.find(':') != std::string::npos && request.server_host[0] != '[';
  const std::string host = is_ipv6 ? '[' + request.server_host + ']' : request.server_host;
  return host + ':' + std::to_string(request.server_port);
}

std::vector<std::string> popctlWords(const model::JobSpec& spec, bool verbose) {
  const model::PartitionRequest& request = spec.partition;
  std::vector<std::string> words{sys::ownProgram("popctl"), "hold", "partition"};
  const auto say = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  say("--server", serverOf(request));
  say("--timeout", std::to_string(request.server_timeout_seconds));
  say("--size", std::to_string(model::partitionIpus(spec)));
  say("--num-gcds", std::to_string(spec.num_instances));
  say("--num-replicas", std::to_string(spec.num_replicas));
  say("--num-segments", std::to_string(model::countIlds(spec)));
  say("--attempts", std::to_string(request.attempts));
  say("--holder", "poprun " + std::to_string(::getpid()) + " on " + sys::hostName());
  if (!request.name.empty()) say("--partition", request.name);
  if (!request.allocation.empty()) say("--allocation", request.allocation);
  if (!request.sync_type.empty()) say("--sync-type", request.sync_type);
  if (request.reset) say("--reset", *request.reset ? "true" : "false");
  if (request.update) words.emplace_back("--update");
  if (request.remove) words.emplace_back("--remove");
  if (verbose) words.emplace_back("--verbose");
  return words;
}

// In a session of its own: a Ctrl-C is for the job first, which still uses the partition.
Result<Holder> startHolder(const model::JobSpec& spec, bool verbose) {
  POP_ASSIGN_OR_RETURN(sys::Pipe input, sys::makePipe());
  POP_ASSIGN_OR_RETURN(sys::Pipe output, sys::makePipe());
  POP_ASSIGN_OR_RETURN(
      os::HelperProgram popctl,
      os::HelperProgram::start(popctlWords(spec, verbose),
                               {input.read_end.get(), output.write_end.get(), STDERR_FILENO}));
  return Holder{
      .popctl = std::move(popctl), .hold = std::move(input.write_end), .ready = std::move(output.read_end)};
}

Result<HeldPartition> waitForPartition(const Holder& holder) {
  std::string line;
  char byte = 0;
  while (true) {
    const ssize_t got = ::read(holder.ready.get(), &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errnoStatus("reading what popctl says of the partition", errno);
    if (got == 0) return HeldPartition();
    if (byte == '\n') break;
    line += byte;
  }
  const std::size_t blank = line.find(' ');
  return HeldPartition{.name = line.substr(0, blank), .made = blank != std::string::npos};
}

// Its requests have time limits of their own; it makes at most two after the job.
void awaitEnd(os::HelperProgram& popctl, const model::PartitionRequest& request) {
  const std::chrono::seconds time_limit{2 * request.server_timeout_seconds};
  if (!popctl.wait(time_limit)) popctl.signal(SIGKILL);
}

// By somebody, or for want of memory: popctl itself stays until it is let go.
void holderWasKilled(const model::JobSpec& spec, const HeldPartition& partition, bool verbose) {
  log::warning("the popctl that held V-IPU partition " + partition.name +
               " ended before the job: another job may have had its IPUs meanwhile");
  if (!partition.made || !spec.partition.remove) return;
  model::JobSpec placed = spec;
  placed.partition.name = partition.name;
  std::vector<std::string> words = popctlWords(placed, verbose);
  words.emplace_back("--only-remove");
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Result<os::HelperProgram> popctl = os::HelperProgram::start(words, {null.get(), null.get(), STDERR_FILENO});
  if (!popctl.ok()) return log::warning(popctl.status().message());
  awaitEnd(*popctl, spec.partition);
}

void letGo(Holder& holder, const model::JobSpec& spec, const HeldPartition& partition, bool verbose) {
  if (holder.popctl.endsWithin(std::chrono::milliseconds(0)))
    return holderWasKilled(spec, partition, verbose);
  holder.hold.reset();
  awaitEnd(holder.popctl, spec.partition);
}

}  // namespace

int withPartition(const model::JobSpec& spec, bool verbose,
                  const std::function<int(const model::JobSpec&)>& run) {
  Result<Holder> holder = startHolder(spec, verbose);
  if (!holder.ok()) return launcherFailed(holder.status());
  const Result<HeldPartition> partition = waitForPartition(holder.value());
  if (!partition.ok()) return launcherFailed(partition.status());
  if (partition.value().name.empty()) return contract::kExitLauncherFailed;
  model::JobSpec placed = spec;
  placed.partition.name = partition.value().name;
  const int exit_code = run(placed);
  letGo(holder.value(), spec, partition.value(), verbose);
  return exit_code;
}

}  // namespace pop
