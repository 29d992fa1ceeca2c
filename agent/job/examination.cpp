// SPDX-License-Identifier: Apache-2.0
#include "agent/job/examination.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "agent/rendezvous/port_reservation.h"
#include "agent/topo/topology_probe.h"
#include "common/sys/fd.h"
#include "common/wire/codec_parts.h"

namespace pop::agent {
namespace {

namespace v1 = ::popdist::v1;

void examineAddress(const AddressHints& hints, v1::Condition& into) {
  const Result<std::string> address = hostAddress(hints);
  address.ok() ? into.set_address(address.value()) : into.set_address_problem(address.status().message());
}

Result<model::HostTopology> topologyOf(v1::TopologyDetail asked) {
  POP_ASSIGN_OR_RETURN(const model::TopologyDetail detail, wire::decodeDetail(asked));
  return probeTopology(detail);
}

void examineTopology(v1::TopologyDetail asked, v1::Condition& into) {
  const Result<model::HostTopology> topology = topologyOf(asked);
  if (!topology.ok()) return into.set_topology_problem(topology.status().message());
  if (!topology.value().nodes_problem.empty()) into.set_topology_problem(topology.value().nodes_problem);
  into.set_num_cpus(topology.value().allowed.size());
  into.set_num_memory_nodes(static_cast<int>(topology.value().nodes.size()));
}

// Instances use it as working directory, so permission to read it is not enough.
void examineDirectory(const std::string& path, v1::Condition& into) {
  const sys::Fd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const bool usable = directory.valid() && ::faccessat(directory.get(), ".", X_OK, AT_EACCESS) == 0;
  if (!usable) into.set_directory_problem(errnoStatus(path, errno).message());
}

void examineLimits(v1::Condition& into) {
  struct statvfs shared {};
  if (::statvfs("/dev/shm", &shared) == 0) {
    into.set_free_shared_memory_bytes(std::uint64_t{shared.f_bavail} * shared.f_frsize);
  } else {
    into.set_shared_memory_problem(errnoStatus("/dev/shm", errno).message());
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) into.set_open_files(limit.rlim_max);
}

}  // namespace

AddressHints addressHints(const v1::Hello& hello) {
  AddressHints hints{hello.subnet(), hello.reached_at(), hello.controller_at()};
  if (hints.reached_at.empty() && hints.controller_at.empty()) hints.takeSshConnection();
  return hints;
}

v1::Condition examineHost(const v1::Hello& hello) {
  const v1::Examination& asked = hello.examination();
  v1::Condition found;
  std::error_code ignored;
  found.set_agent_path(std::filesystem::read_symlink("/proc/self/exe", ignored).string());
  examineAddress(addressHints(hello), found);
  examineTopology(asked.detail(), found);
  const Result<PortReservation> ports = PortReservation::reserve(asked.port_count());
  if (!ports.ok()) found.set_ports_problem(ports.status().message());
  if (!asked.working_directory().empty()) examineDirectory(asked.working_directory(), found);
  examineLimits(found);
  const auto now = std::chrono::system_clock::now().time_since_epoch();  // last: it is to be fresh
  found.set_wall_clock_ms(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  return found;
}

}  // namespace pop::agent
