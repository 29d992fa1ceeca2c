// SPDX-License-Identifier: Apache-2.0
#include "poprun/daemon/held_partition.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include "common/base/status.h"
#include "common/contract/exit_code.h"
#include "common/log/log.h"
#include "common/os/helper_program.h"
#include "common/sys/fd.h"
#include "common/sys/host_name.h"
#include "common/sys/no_write_signal.h"
#include "common/sys/own_program.h"
#include "poprun/command/command_line.h"
#include "poprun/daemon/hold_partition.h"
#include "poprun/daemon/partition_order.h"

namespace pop::daemon {
namespace {

std::string ourselves() {
  return "poprun " + std::to_string(::getpid()) + " on " + sys::hostName();
}

struct Holder {
  os::HelperProgram program;
  sys::Fd hold;   ///< its stdin: it holds the partition until this is closed
  sys::Fd ready;  ///< its stdout: the partition's name, once it is ready
};

struct HeldPartition {
  std::string name;   ///< empty: the holder has ended, and has said why
  bool made = false;  ///< for this job
  std::string system;
};

// In a session of its own: a Ctrl-C is for the job first, which still uses the partition.
Result<os::HelperProgram> startHolder(const PartitionOrder& order, const std::array<int, 3>& stdio,
                                      int input) {
  POP_ASSIGN_OR_RETURN(os::HelperProgram program,
                       os::HelperProgram::start({sys::ownProgram("poprun-daemon"), kHoldPartition}, stdio));
  const sys::NoWriteSignal no_signal(SIGPIPE);  // it may have ended already
  POP_RETURN_IF_ERROR(send(input, order));
  return program;
}

Result<Holder> holderOf(const model::JobSpec& spec, bool verbose) {
  POP_ASSIGN_OR_RETURN(sys::Pipe input, sys::makePipe());
  POP_ASSIGN_OR_RETURN(sys::Pipe output, sys::makePipe());
  POP_ASSIGN_OR_RETURN(
      os::HelperProgram program,
      startHolder({.job = spec, .holder = ourselves(), .verbose = verbose},
                  {input.read_end.get(), output.write_end.get(), STDERR_FILENO}, input.write_end.get()));
  return Holder{
      .program = std::move(program), .hold = std::move(input.write_end), .ready = std::move(output.read_end)};
}

// Empty: the holder has ended.
Result<std::string> readLine(const Holder& holder) {
  std::string line;
  char byte = 0;
  while (true) {
    const ssize_t got = ::read(holder.ready.get(), &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errnoStatus("reading the name and the system of the partition", errno);
    if (got == 0) return std::string();
    if (byte == '\n') return line;
    line += byte;
  }
}

Result<HeldPartition> waitForPartition(const Holder& holder) {
  POP_ASSIGN_OR_RETURN(const std::string line, readLine(holder));
  POP_ASSIGN_OR_RETURN(std::string system, readLine(holder));
  if (system.empty()) return HeldPartition();
  const std::size_t blank = line.find(' ');
  return HeldPartition{
      .name = line.substr(0, blank), .made = blank != std::string::npos, .system = std::move(system)};
}

// Its requests have time limits of their own; it makes at most two after the job.
void awaitEnd(os::HelperProgram& program, const model::PartitionRequest& request) {
  const std::chrono::seconds time_limit{2 * request.server_timeout_seconds};
  if (!program.wait(time_limit)) program.signal(SIGKILL);
}

Status removeAgain(const PartitionOrder& order) {
  POP_ASSIGN_OR_RETURN(sys::Pipe input, sys::makePipe());
  const sys::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  POP_ASSIGN_OR_RETURN(
      os::HelperProgram program,
      startHolder(order, {input.read_end.get(), null.get(), STDERR_FILENO}, input.write_end.get()));
  awaitEnd(program, order.job.partition);
  return {};
}

// By somebody, or for want of memory: a holder stays until it is let go.
void holderWasKilled(const model::JobSpec& spec, const HeldPartition& partition, bool verbose) {
  log::warning("the process that held V-IPU partition " + partition.name +
               " ended before the job: another job may have had its IPUs meanwhile");
  if (!partition.made || !spec.partition.remove) return;
  model::JobSpec placed = spec;
  placed.partition.name = partition.name;
  const Status removed =
      removeAgain({.job = placed, .holder = ourselves(), .verbose = verbose, .only_remove = true});
  if (!removed.ok()) log::warning(removed.message());
}

void letGo(Holder& holder, const model::JobSpec& spec, const HeldPartition& partition, bool verbose) {
  if (holder.program.endsWithin(std::chrono::milliseconds(0)))
    return holderWasKilled(spec, partition, verbose);
  holder.hold.reset();
  awaitEnd(holder.program, spec.partition);
}

}  // namespace

int withPartition(const model::JobSpec& spec, bool verbose,
                  const std::function<int(const model::JobSpec&)>& run) {
  Result<Holder> holder = holderOf(spec, verbose);
  if (!holder.ok()) return launcherFailed(holder.status());
  const Result<HeldPartition> partition = waitForPartition(holder.value());
  if (!partition.ok()) return launcherFailed(partition.status());
  if (partition.value().name.empty()) return contract::kExitLauncherFailed;
  model::JobSpec placed = spec;
  placed.partition.name = partition.value().name;
  placed.system = partition.value().system;
  const int exit_code = run(placed);
  letGo(holder.value(), spec, partition.value(), verbose);
  return exit_code;
}

}  // namespace pop::daemon
