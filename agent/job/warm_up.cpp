// SPDX-License-Identifier: Apache-2.0
#include "agent/job/warm_up.h"

#include <string>
#include <variant>

#include "agent/core/hooks.h"
#include "agent/job/host_address.h"
#include "agent/keeper/keeper_link.h"
#include "agent/rendezvous/port_reservation.h"
#include "agent/topo/topology_probe.h"
#include "common/sys/unix_socket.h"
#include "common/wire/agent_codec.h"

namespace pop::agent {
namespace {

// A documentation address (RFC 5737); nothing is sent there.
constexpr const char* kAnywhere = "192.0.2.1";

JobSlice anyJob() {
  JobSlice slice{.job_id = "warm-up", .key = std::string(16, '\0'), .host_address = "127.0.0.1"};
  slice.programs.push_back({.command = {"true"}, .num_instances = 1, .working_directory = "/"});
  slice.instances.emplace_back();
  return slice;
}

// A slice as the launcher sends it.
Result<SpawnRequest> receivedJob() {
  wire::v1::Command arrived;
  arrived.ParseFromString(wire::encode(NumberedCommand{1, RunCommand{anyJob()}}).SerializeAsString());
  NumberedCommand command;
  POP_RETURN_IF_ERROR(wire::decode(arrived, command));
  const JobSlice& slice = std::get<RunCommand>(command.command).slice;
  return prepareSpawn({slice, slice.instances.front()});
}

}  // namespace

void warmUp(int keeper_link) {
  static_cast<void>(PortReservation::reserve(1));
  static_cast<void>(probeTopology(model::TopologyDetail::kCpus));
  static_cast<void>(hostAddress({.controller_at = kAnywhere}));
  const Result<SpawnRequest> request = receivedJob();
  if (!request.ok()) return;
  static_cast<void>(sys::sendAll(keeper_link, environmentMessage(request.value().environment)));
}

}  // namespace pop::agent
