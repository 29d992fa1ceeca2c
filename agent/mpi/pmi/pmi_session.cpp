// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmi/pmi_session.h"

#include <utility>

#include "agent/mpi/abort_code.h"
#include "common/base/text.h"

namespace pop::agent {
namespace {

// The limits that other launchers give, each with the zero byte at the end of a client's string.
constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMaxKeyBytes = 64;
constexpr std::size_t kMaxValueBytes = 1024;

constexpr std::size_t kShownLineBytes = 80;

// Finds a value in "… name=value …". It ends at a blank, except that of `value`, which is the last field.
std::string_view fieldOf(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && line[at - 1] != ' ') || end >= line.size() || line[end] != '=') continue;
    const std::string_view rest = line.substr(end + 1);
    return name == "value" ? rest : rest.substr(0, rest.find(' '));
  }
  return {};
}

PmiOutcome answer(std::string text) {
  return {.answer = std::move(text)};
}

std::string nameOf(int instance) {
  return "instance " + std::to_string(instance);
}

PmiOutcome garbage(int instance, const std::string& what) {
  return {.warning = nameOf(instance) + " " + what + ": its connection for PMI is closed",
          .is_garbage = true};
}

}  // namespace

PmiOutcome PmiSession::take(int instance, std::string_view line) {
  if (spawns_.contains(instance) || fieldOf(line, "mcmd") == "spawn") return spawn(instance, line);
  const std::string_view command = fieldOf(line, "cmd");
  if (command == "init") return init(instance, line);
  if (command == "get_maxes") {
    return answer("cmd=maxes kvsname_max=" + std::to_string(kMaxNameBytes) + " keylen_max=" +
                  std::to_string(kMaxKeyBytes) + " vallen_max=" + std::to_string(kMaxValueBytes));
  }
  if (command == "get_appnum")
    return answer("cmd=appnum appnum=" + std::to_string(world_.programs.at(instance)));
  if (command == "get_my_kvsname") return answer("cmd=my_kvsname kvsname=" + world_.name);
  if (command == "get_universe_size") return answer("cmd=universe_size size=" + std::to_string(world_.size));
  if (command == "put") return put(instance, line);
  if (command == "get") return answer(valueOf(fieldOf(line, "key")));
  if (command == "barrier_in") return enterBarrier(instance);
  if (command == "finalize") return answer("cmd=finalize_ack rc=0");
  if (command == "abort") return {.abort = abort(instance, line)};
  for (const std::string name : {"publish", "unpublish", "lookup"}) {
    if (command == name + "_name") return answer("cmd=" + name + "_result rc=-1 info=not_supported");
  }
  return garbage(instance, "sent " + inQuotes(line.substr(0, kShownLineBytes)) + ", which is not PMI-1");
}

PmiOutcome PmiSession::takeEndless(int instance) {
  return garbage(instance, "sent a line that is too long for PMI-1");
}

// An earlier program of this instance may have been killed, in a barrier.
PmiOutcome PmiSession::init(int instance, std::string_view line) {
  fence_.leave(instance);
  const std::string version = printable(fieldOf(line, "pmi_version").substr(0, kShownLineBytes));
  if (version == "1") return answer("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  return {.answer = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1",
          .warning = nameOf(instance) + " asks for PMI version " + version +
                     ": build the program with PMI-1 (as Debian's MPICH is; it is MPICH's own default)"};
}

PmiOutcome PmiSession::put(int instance, std::string_view line) {
  const std::string_view key = fieldOf(line, "key");
  const std::string_view value = fieldOf(line, "value");
  const auto refuse = [](const std::string& why) { return answer("cmd=put_result rc=-1 msg=" + why); };
  if (key.empty()) return refuse("no_key");
  if (key.size() >= kMaxKeyBytes) return refuse("key_too_long");
  if (value.size() >= kMaxValueBytes) return refuse("value_too_long");
  if (!bytes_.add({{std::string(key), std::string(value)}})) return refuse("too_many_values");
  fence_.put(instance, std::string(key), std::string(value));
  return answer("cmd=put_result rc=0 msg=success");
}

// Without the mapping, where it is too long, MPICH finds out by the names of hosts.
std::string PmiSession::valueOf(std::string_view key) const {
  std::optional<std::string> value = fence_.get(std::string(key));
  if (key == "PMI_process_mapping" && world_.process_mapping.size() < kMaxValueBytes)
    value = world_.process_mapping;
  if (!value) return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
  return "cmd=get_result rc=0 msg=success value=" + *value;
}

PmiOutcome PmiSession::enterBarrier(int instance) {
  if (fence_.inside().contains(instance)) return garbage(instance, "entered a barrier of PMI twice");
  fence_.enter(instance, "");
  if (ended_) return {.abort = whoWaits()};
  if (!fence_.complete()) return {};
  return {.reached = fence_.collect()};
}

// A call of MPI_Comm_spawn_multiple tells its commands one after the other, and waits for one answer.
PmiOutcome PmiSession::spawn(int instance, std::string_view line) {
  Spawn& spawn = spawns_[instance];
  if (line.starts_with("totspawns=")) spawn.commands = fieldOf(line, "totspawns");
  if (line.starts_with("spawnssofar=")) spawn.number = fieldOf(line, "spawnssofar");
  if (line != "endcmd") return {};
  const bool is_last = spawn.number == spawn.commands;
  spawns_.erase(instance);
  if (!is_last) return {};
  return {.answer = "cmd=spawn_result rc=-1 status=not_supported",
          .warning = nameOf(instance) +
                     " called MPI_Comm_spawn, which poprun refuses: start all processes of the job with "
                     "--num-instances"};
}

std::optional<PmiAbort> PmiSession::abort(int instance, std::string_view line) {
  const Result<std::int64_t> code = parseInteger(fieldOf(line, "exitcode"));
  if (!code.ok()) return once({instance, 1, "called MPI_Abort"});
  return once(
      {instance, exitCodeOfAbort(code.value()), "called MPI_Abort(" + std::to_string(code.value()) + ")"});
}

std::vector<int> PmiSession::release(const PutValues& values) {
  bytes_.reset();
  std::vector<int> released;
  for (const auto& [instance, tag] : fence_.release(values)) released.push_back(instance);
  return released;
}

std::optional<PmiAbort> PmiSession::announce(const EndNotice& end_notice) {
  leave(end_notice.instance);
  if (!ended_) ended_ = end_notice.instance;
  return whoWaits();
}

std::optional<PmiAbort> PmiSession::whoWaits() {
  if (fence_.inside().empty()) return std::nullopt;
  const int waits = fence_.inside().begin()->first;
  return once({waits, 1, "waits in MPI_Init or MPI_Finalize for " + nameOf(*ended_) + ", which has ended"});
}

std::optional<PmiAbort> PmiSession::once(PmiAbort abort) {
  if (std::exchange(aborted_, true)) return std::nullopt;
  return abort;
}

void PmiSession::leave(int instance) {
  fence_.leave(instance);
  spawns_.erase(instance);
}

}  // namespace pop::agent
