// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/pod_options.h"

#include <CLI/CLI.hpp>
#include <map>

#include "popctl/whole_number.h"
#include "popdistd/partitions/partition.h"
#include "proto/popdist/v1/pods.pb.h"

namespace pop::popctl {
namespace {

using Kinds = std::map<std::string, int>;

template <typename Enum>
void addKind(Kinds& kinds, Enum kind) {
  kinds.emplace(vipu::nameOf(kind), static_cast<int>(kind));
}

Kinds routings() {
  Kinds kinds{{"default", 0}};
  for (const auto kind : {vipu::IpuLinkRouting::kDnc, vipu::IpuLinkRouting::kSwnc,
                          vipu::IpuLinkRouting::kBtnc, vipu::IpuLinkRouting::kRingSwnc})
    addKind(kinds, kind);
  return kinds;
}

Kinds gatewayRoutings() {
  Kinds kinds{{"default", 0}};
  for (const auto kind : {vipu::GatewayRouting::kRing, vipu::GatewayRouting::kSwRing}) addKind(kinds, kind);
  return kinds;
}

Kinds syncTypes() {
  Kinds kinds{{"default", 0}};
  for (const auto kind : {vipu::SyncType::kGs2Default, vipu::SyncType::kGs2IndependentRails,
                          vipu::SyncType::kPodNativeDefault, vipu::SyncType::kPodNativeReplicatedPipeline})
    addKind(kinds, kind);
  return kinds;
}

void addKindOption(CLI::App& app, const std::string& name, int& to, const Kinds& kinds,
                   const std::string& description) {
  std::string known;
  for (const auto& [word, number] : kinds) known += (known.empty() ? "" : ", ") + CLI::detail::to_lower(word);
  app.add_option(name, to, description + ": " + known)
      ->type_name("KIND")
      ->option_text("KIND")
      ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case));
}

void addNames(CLI::App& app, const std::string& name, std::vector<std::string>& to,
              const std::string& description) {
  app.add_option(name, to, description)->type_name("NAME,…")->delimiter(',')->expected(1)->take_all();
}

void addCreatePartition(CLI::App& app, PodOptions& options) {
  app.add_option("--size", options.size, "number of IPUs, a power of two")
      ->type_name("N")
      ->check(wholeNumber(1));
  app.add_option("--allocation", options.allocation, "allocation whose IPU-Machines it may have")
      ->type_name("NAME");
  app.add_option("--cluster", options.cluster, "cluster that it is made in")->type_name("NAME");
  app.add_option("--num-gcds,--gcds", options.num_gcds, "graph compile domains; 1 if not given")
      ->type_name("N")
      ->check(wholeNumber(1));
  app.add_option("--gcd-sync-replicas", options.num_replicas, "replicas of all GCDs together; one for each")
      ->type_name("N")
      ->check(wholeNumber(1));
  app.add_option("--num-segments,--segments", options.num_segments, "IPU-Link domains; 1 if not given")
      ->type_name("N")
      ->check(wholeNumber(1));
  app.add_option("--index", options.index, "index of the block of so many IPUs within the cluster, from 0")
      ->type_name("N");
  app.add_flag("--reconfigurable", options.reconfigurable,
               "programs choose how many IPUs they take together");
  addKindOption(app, "--routing", options.routing, routings(), "over IPU-Links");
  addKindOption(app, "--gw-routing", options.gateway_routing, gatewayRoutings(), "over GW-Links");
  addKindOption(app, "--sync-type", options.sync, syncTypes(), "sync group between GCDs");
  app.add_flag("--relocatable", options.relocatable, "it may get other IPUs when its own are at fault");
  app.add_flag("--no-auto-reset", options.no_auto_reset, "it stays in error until somebody resets it");
  app.add_flag("--no-ipuof-files", options.no_ipuof_files, "write none to ~/.ipuof.conf.d");
}

void addCreateCluster(CLI::App& app, PodOptions& options) {
  app.add_option("--num-ipulinkdomains,--num-ilds", options.num_ilds, "IPU-Link domains; 1 if not given")
      ->type_name("N")
      ->check(wholeNumber(1));
  app.add_option("--machines-per-ild", options.machines_per_ild, "16 if not given, which is a Pod64")
      ->type_name("N")
      ->check(wholeNumber(1));
  addKindOption(app, "--topology", options.topology, {{"mesh", v1::ILD_MESH}, {"torus", v1::ILD_TORUS}},
                "of IPU-Links");
  addKindOption(app, "--cluster-topology", options.gateways,
                {{"looped", v1::GATEWAY_RING}, {"switched", v1::GATEWAY_SWITCHED}}, "of GW-Links");
}

void addCreateAgent(CLI::App& app, PodOptions& options) {
  app.add_option("--cluster", options.cluster, "the only one there is if not given")->type_name("NAME");
  app.add_option("--ild", options.ild, "its IPU-Link domain, from 0; the next free place if not given")
      ->type_name("N")
      ->check(wholeNumber(0));
  app.add_option("--position", options.position, "its place there, from 0 at the bottom")
      ->type_name("N")
      ->check(wholeNumber(0));
  app.add_option("--host", options.host, "that serves it")->type_name("HOST");
  app.add_option("--ip", options.ip, "of its IPU over Fabric server")->type_name("ADDRESS");
}

void addCreateAllocation(CLI::App& app, PodOptions& options) {
  app.add_option("--cluster", options.cluster, "the only one there is if not given")->type_name("NAME");
  addNames(app, "--agents", options.agents, "its IPU-Machines");
  addNames(app, "--users", options.users, "users who may use it; all if not given");
  app.add_flag("--replace", options.replace, "the allocation that is there");
}

void addGet(CLI::App& app, PodOptions& options) {
  app.add_option("--gcd", options.gcd, "only this graph compile domain, from 0")->type_name("N");
  app.add_flag("--ipuof-configs,--ipu-configs", options.ipuof_configs, "print what programs need to use it");
  app.add_flag("--system", options.system, "print the Pod that its programs see, as a system file");
}

}  // namespace

void addPodOptions(CLI::App& app, Action action, PodOptions& options) {
  switch (action) {
    case Action::kCreatePartition:
      return addCreatePartition(app, options);
    case Action::kCreateCluster:
      return addCreateCluster(app, options);
    case Action::kCreateAgent:
      return addCreateAgent(app, options);
    case Action::kCreateAllocation:
      return addCreateAllocation(app, options);
    case Action::kGetPartition:
      return addGet(app, options);
    case Action::kListPartitions:
      app.add_option("--allocation", options.allocation, "only of this allocation")->type_name("NAME");
      return;
    case Action::kListAgents:
      app.add_option("--cluster", options.cluster, "only of this cluster")->type_name("NAME");
      return;
    case Action::kListIpuAttributes:
      return addNames(app, "--agents", options.agents, "only of these IPU-Machines");
    case Action::kResetPartition:
      app.add_flag("--relocatable", options.relocatable, "it may get other IPUs");
      return;
    case Action::kRemovePartition:
      app.add_flag("--force", options.force, "end what uses it");
      return;
    default:
      app.add_flag("--force", options.force, "you have made sure that nothing uses its IPUs");
  }
}

std::string podMistake(const Command& command) {
  const PodOptions& pods = command.pods;
  if (command.action == Action::kCreatePartition && pods.size == 0) return "say how many IPUs: --size N";
  if (command.action == Action::kCreateAgent && pods.ild.has_value() != pods.position.has_value())
    return "give both --ild and --position, or neither";
  if (command.action == Action::kCreateAllocation && pods.agents.empty())
    return "say which IPU-Machines: --agents NAME,…";
  if (command.action == Action::kGetPartition && pods.gcd && !pods.ipuof_configs)
    return "--gcd goes with --ipuof-configs";
  if (pods.system && (pods.ipuof_configs || command.common.json))
    return "--system prints a system file: leave out --ipuof-configs and --json";
  return {};
}

}  // namespace pop::popctl
