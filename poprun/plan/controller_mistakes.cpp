// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/controller_mistakes.h"

namespace pop {
namespace {

std::vector<std::string> withoutController(const ControllerOptions& options) {
  std::vector<std::string> mistakes;
  const auto needsController = [&mistakes](const char* option, bool given) {
    if (given) mistakes.push_back(std::string(option) + " only goes with --controller");
  };
  needsController("--controller-tls", !options.tls.empty());
  needsController("--num-hosts", options.num_hosts.has_value());
  needsController("--priority", options.priority != 0);
  needsController("--held", options.held);
  needsController("--no-wait", options.no_wait);
  return mistakes;
}

}  // namespace

std::vector<std::string> findControllerMistakes(const Options& options) {
  const ControllerOptions& controller = options.controller;
  if (controller.server.empty()) return withoutController(controller);
  std::vector<std::string> mistakes;
  if (isJobCommand(options.detached))
    mistakes.emplace_back(
        "--attach, --cancel, --jobs and --logs are for detached jobs of poprun's own: for those of popdistd "
        "there are "
        "popctl attach job, popctl cancel job, popctl list jobs and popctl logs job");
  if (controller.num_hosts && !(options.host.empty() && options.hostfile.empty()))
    mistakes.emplace_back(
        "--num-hosts (popctl's --hosts): --host or --hostfile names the hosts; give only one of both");
  if (options.hosts.agent_port != 0)
    mistakes.emplace_back("--agent-port: popdistd reaches the hosts of its jobs by itself; leave it out");
  if (!options.synchronise.empty() || options.synchronise_python_venv || options.synchronise_poplar_sdk ||
      options.distribute_ssh_key)
    mistakes.emplace_back(
        "--synchronise, --distribute-ssh-key: popdistd copies nothing to the hosts of its jobs; leave them "
        "out");
  return mistakes;
}

}  // namespace pop
