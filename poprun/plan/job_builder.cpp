// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/job_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "common/model/host_list.h"
#include "poprun/plan/collective_ways.h"
#include "poprun/plan/controller_mistakes.h"
#include "poprun/plan/copy_paths.h"
#include "poprun/plan/detached_mistakes.h"
#include "poprun/plan/forwarded_environment.h"
#include "poprun/plan/idle_options.h"
#include "poprun/plan/instance_counts.h"
#include "poprun/plan/job_pod.h"

namespace pop {
namespace {

// Chosen later by popdistd.
std::vector<model::Host> hostsToChoose(int count) {
  std::vector<model::Host> hosts;
  for (int i = 0; i < count; ++i) hosts.push_back({.name = "host" + std::to_string(i)});
  return hosts;
}

Result<std::vector<model::Host>> hostsOf(const Options& options, const Surroundings& here) {
  if (options.controller.num_hosts) return hostsToChoose(*options.controller.num_hosts);
  if (options.hostfile.empty())
    return model::parseHostList(options.host.empty() ? "localhost" : options.host);
  POP_ASSIGN_OR_RETURN(const std::string text, here.file(options.hostfile));
  return model::parseHostfile(text, options.hostfile);
}

// This host would get a part of the job for each of its names: the first one stands for all, with their
// slots.
void nameOwnHostOnce(std::vector<model::Host>& hosts, const std::string& own_name) {
  const auto is_here = [&](const model::Host& host) { return model::isThisHost(host.name, own_name); };
  const auto first = std::find_if(hosts.begin(), hosts.end(), is_here);
  if (first == hosts.end()) return;
  int more = 0;
  for (auto host = first + 1; host != hosts.end(); ++host) more += is_here(*host) ? model::slotsOf(*host) : 0;
  if (more > 0) first->slots = model::slotsOf(*first) + more;
  hosts.erase(std::remove_if(first + 1, hosts.end(), is_here), hosts.end());
}

void buildHosts(const Options& options, const Surroundings& here, BuiltJob& built) {
  Result<std::vector<model::Host>> hosts = hostsOf(options, here);
  if (!hosts.ok()) {
    built.mistakes.push_back((options.hostfile.empty() ? "--host: " : "--hostfile: ") +
                             hosts.status().message());
    return;
  }
  for (model::Host& host : *hosts) {
    if (!model::isThisHost(host.name, here.host_name) && here.names_this_host &&
        here.names_this_host(host.name))
      host.name = here.host_name;
  }
  nameOwnHostOnce(*hosts, here.host_name);
  built.spec.hosts = std::move(*hosts);
}

// The variables that `word` names, "NAME" or a pattern; from poprun's own environment.
std::vector<model::Variable> forwardedBy(const std::string& word, const Surroundings& here) {
  if (isPattern(word)) return matchingEnvironment(here.environment, word);
  const char* value = here.variable(word.c_str());
  return value == nullptr ? std::vector<model::Variable>{} : std::vector<model::Variable>{{word, value}};
}

// "NAME=value" is used unchanged. Others are forwarded, with a warning if there are none, as by mpirun.
std::vector<model::Variable> variablesOf(const ProgramOptions& program, const Surroundings& here,
                                         BuiltJob& built) {
  std::vector<model::Variable> variables;
  for (const std::string& each : program.environment) {
    if (const std::size_t equals = each.find('='); equals != std::string::npos) {
      variables.emplace_back(each.substr(0, equals), each.substr(equals + 1));
      continue;
    }
    const std::vector<model::Variable> forwarded = forwardedBy(each, here);
    variables.insert(variables.end(), forwarded.begin(), forwarded.end());
    if (!forwarded.empty()) continue;
    const bool is_list = each.find(',') != std::string::npos;
    const std::string warning = "-x " + each + ": not set here, so there is nothing to forward" +
                                (is_list ? "; -x takes one name or pattern" : "");
    if (std::find(built.warnings.begin(), built.warnings.end(), warning) == built.warnings.end()) {
      built.warnings.push_back(warning);
    }
  }
  return variables;
}

void buildPrograms(const Options& options, const Surroundings& here, BuiltJob& built) {
  for (const ProgramOptions& program : options.programs) {
    const std::string& directory = program.working_directory;
    built.spec.programs.push_back({.command = program.command,
                                   .num_instances = program.num_instances.value_or(1),
                                   .working_directory = directory.empty() ? "" : here.absolute(directory),
                                   .environment = variablesOf(program, here, built)});
  }
  built.spec.environment = forwardedEnvironment(here.environment, options.genvall);
  for (contract::Variable& variable : collectiveVariables(options.collectives))
    built.spec.environment.push_back(std::move(variable));
}

// A user who calls poprun as mpirun may mean no IPUs at all.
bool namesPods(const Options& options) {
  return options.num_replicas || options.num_ilds || options.ipus_per_replica != Options().ipus_per_replica ||
         !options.system.empty() || options.partition != model::PartitionRequest();
}

void copySettings(const Options& options, model::JobSpec& spec) {
  spec.host_subnet = options.host_subnet;
  spec.ipus_per_replica = options.ipus_per_replica;
  spec.copies.ssh_key = options.distribute_ssh_key;
  spec.num_ilds = options.num_ilds;
  spec.uneven_replicas = options.uneven_replicas;
  spec.offline_mode = options.offline_mode;
  spec.needs_pods = !options.hosts_are_slots || namesPods(options);
  spec.partition = options.partition;
  spec.binding = options.binding;
  spec.env_families = options.env_families;
  spec.tf_tasks = options.tf_tasks;
  spec.stdin_policy = options.stdin_policy;
  spec.kill_grace = options.kill_grace;
  spec.timeout = options.timeout;
  spec.stack_traces = options.stack_traces;
  spec.max_restarts = options.max_restarts;
  spec.restart_delay = options.restart_delay;
  spec.min_hosts = options.min_hosts;
}

// A directory that poprun's own environment names belongs to the user: it is kept.
void nameExecutableCache(const Options& options, const Surroundings& here, model::JobSpec& spec) {
  const char* const inherited = here.variable("POPDIST_EXECUTABLE_CACHE_PATH");
  spec.make_executable_cache = !options.executable_cache_path.empty();
  if (spec.make_executable_cache) {
    spec.executable_cache_path = here.absolute(options.executable_cache_path);
  } else if (inherited != nullptr) {
    spec.executable_cache_path = inherited;
  }
}

// Options that name an instance: it must exist.
void checkInstances(const Options& options, BuiltJob& built) {
  if (built.spec.num_instances < 1) return;
  for (std::string& mistake : findWrongInstances(options, built.spec.num_instances))
    built.mistakes.push_back(std::move(mistake));
}

// Marks the default number of instances, which the user did not type.
std::vector<std::string> mistakesIn(const model::JobSpec& spec, const Options& options) {
  constexpr std::string_view kOne = "--num-instances 1";
  std::vector<std::string> mistakes = model::findMistakes(spec);
  if (options.programs.size() > 1 || options.programs.front().num_instances) return mistakes;
  for (std::string& mistake : mistakes) {
    if (mistake.starts_with(std::string(kOne) + ' ')) mistake.insert(kOne.size(), " (the default is 1)");
  }
  return mistakes;
}

// True if findMistakes accepts the numbers. A missing program does not matter here.
bool numbersHold(const model::JobSpec& spec) {
  model::JobSpec with_program = spec;
  for (model::Program& program : with_program.programs) program.command = {"program"};
  return model::findMistakes(with_program).empty();
}

}  // namespace

std::string Surroundings::absolute(const std::string& path) const {
  if (path.starts_with('/') || directory.empty()) return path;
  return directory + (directory.ends_with('/') ? "" : "/") + path;
}

std::vector<std::string> findWrongInstances(const Options& options, int num_instances) {
  std::vector<std::string> mistakes;
  const auto check = [&](const char* name, std::optional<int> instance) {
    if (!instance || (*instance >= 0 && *instance < num_instances)) return;
    mistakes.push_back(std::string(name) + ' ' + std::to_string(*instance) +
                       ": there are only instances 0 to " + std::to_string(num_instances - 1) +
                       " (--num-instances)");
  };
  check("--only-output-from-instance", options.only_output_from_instance);
  check("--only-stdout-from-instance", options.only_stdout_from_instance);
  if (options.stdin_policy.who == model::StdinPolicy::Who::kOne)
    check("--stdin", options.stdin_policy.instance);
  return mistakes;
}

BuiltJob buildJob(const Options& options, const Surroundings& here) {
  BuiltJob built{.warnings = findIdleOptions(options)};
  copySettings(options, built.spec);
  nameExecutableCache(options, here, built.spec);
  buildPrograms(options, here, built);
  buildHosts(options, here, built);
  countInstances(options, here, built.spec);
  built.spec.num_replicas = options.num_replicas.value_or(std::max(built.spec.num_instances, 1));
  built.spec.copies.paths = pathsToCopy(options, here, built.mistakes);
  for (std::string& mistake : findDetachedMistakes(options)) built.mistakes.push_back(std::move(mistake));
  for (std::string& mistake : findControllerMistakes(options)) built.mistakes.push_back(std::move(mistake));
  if (!options.allow_run_as_root && here.is_root) {
    built.mistakes.emplace_back("--allow-run-as-root no: poprun was started by root");
  }
  const std::vector<std::string> mistakes = mistakesIn(built.spec, options);
  built.mistakes.insert(built.mistakes.end(), mistakes.begin(), mistakes.end());
  if (numbersHold(built.spec)) setPod(options, here, built);
  checkInstances(options, built);
  return built;
}

bool needsPartition(const Options& options, const model::JobSpec& spec) {
  return options.controller.server.empty() && !spec.offline_mode &&
         spec.partition != model::PartitionRequest();
}

}  // namespace pop
