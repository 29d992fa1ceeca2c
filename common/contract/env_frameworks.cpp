// SPDX-License-Identifier: Apache-2.0
#include "common/contract/env_frameworks.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/json.h"
#include "common/base/text.h"

namespace pop::contract {
namespace {

using Parts = EnvironmentParts;

// The kernel's MAX_ARG_STRLEN: the size of one "NAME=value" including its final zero.
constexpr std::size_t kMaxVariableBytes = 128 * 1024;
constexpr std::string_view kTargetOptions = "POPLAR_TARGET_OPTIONS";

// The IPU-Links of a whole Pod form a torus, those of a part of it a mesh.
constexpr int kTorusIpus = 64;
// poplibs slides a window over replicas of so many IPUs, on a torus.
constexpr int kMostSlidingIpus = 4;

std::string indexOf(const Parts& parts) {
  return std::to_string(parts.env.instance_index);
}
std::string countOf(const Parts& parts) {
  return std::to_string(parts.env.num_instances);
}
std::string localIndexOf(const Parts& parts) {
  return std::to_string(parts.env.local_instance_index);
}
std::string localCountOf(const Parts& parts) {
  return std::to_string(parts.env.num_local_instances);
}
std::string hostIndexOf(const Parts& parts) {
  return std::to_string(parts.place.host_index);
}
std::string hostCountOf(const Parts& parts) {
  return std::to_string(parts.place.num_hosts);
}
std::string masterAddressOf(const Parts& parts) {
  return parts.rendezvous.master_address;
}

std::string tfConfig(const Parts& parts) {
  const Rendezvous& rendezvous = parts.rendezvous;
  const int index = parts.env.instance_index;
  std::string task = R"("worker","index":)" + std::to_string(index - (rendezvous.tf_chief ? 1 : 0));
  if (rendezvous.tf_chief && index == 0) task = R"("chief","index":0)";
  if (rendezvous.tf_evaluator && index == parts.env.num_instances - 1) task = R"("evaluator","index":0)";
  return R"({"cluster":)" + rendezvous.tf_cluster + R"(,"task":{"type":)" + task + "}}";
}

std::string targetOptions(const Parts& parts) {
  const bool torus = parts.poplar.ild_ipus == kTorusIpus;
  const bool slides = torus && parts.env.num_ipus_per_replica <= kMostSlidingIpus;
  const int ipus = parts.env.num_local_replicas * parts.env.num_ipus_per_replica;
  return R"({"ipuLinkDomainSize":")" + std::to_string(parts.poplar.ild_ipus) +
         R"(","ipuLinkConfiguration":")" + (slides ? "slidingWindow" : "default") +
         R"(","ipuLinkTopology":")" + (torus ? "torus" : "mesh") +
         R"(","gatewayMode":"true","instanceSize":")" + std::to_string(ipus) + R"("})";
}

std::string pmixServer(const Parts& parts) {
  return pmixServerNamespace(parts.env.job_id) + ".0;tcp4://127.0.0.1:" + parts.rendezvous.pmix_port;
}
std::string mpiDirectoryOf(const Parts& parts) {
  return parts.rendezvous.mpi_directory;
}
// Open MPI 4 takes /32 for /0: every network.
std::string ownNetwork(const Parts& parts) {
  return parts.rendezvous.own_address + "/31";
}

bool always(const Parts& /*parts*/) {
  return true;
}
bool hasPartition(const Parts& parts) {
  return !parts.poplar.partition.empty();
}

bool isOnOneHost(const Parts& parts) {
  return parts.place.num_hosts == 1;
}
bool hasIpv4Peers(const Parts& parts) {
  return parts.place.num_hosts > 1 && parts.rendezvous.own_address.find(':') == std::string::npos;
}

bool isUsers(const Parts& parts, std::string_view name) {
  const auto has = [name](std::span<const Variable> variables) {
    return std::any_of(variables.begin(), variables.end(),
                       [name](const Variable& each) { return each.first == name; });
  };
  return has(parts.job) || has(parts.program);
}
// Open MPI takes networks to use or networks to leave out, not both: with both it uses none.
bool mayIncludeForBtl(const Parts& parts) {
  return hasIpv4Peers(parts) && !isUsers(parts, "OMPI_MCA_btl_tcp_if_exclude");
}
bool mayIncludeForOob(const Parts& parts) {
  return hasIpv4Peers(parts) && !isUsers(parts, "OMPI_MCA_oob_tcp_if_exclude");
}

struct Row {
  EnvFamily family;
  std::string_view name;
  std::string (*value)(const Parts&);
  bool (*applies)(const Parts&) = always;
};

constexpr EnvFamily kPoplar = EnvFamily::kPoplar;
constexpr EnvFamily kPyTorch = EnvFamily::kPyTorch;
constexpr EnvFamily kHorovod = EnvFamily::kHorovod;
constexpr EnvFamily kJax = EnvFamily::kJax;
constexpr EnvFamily kOpenMpi = EnvFamily::kOpenMpi;
constexpr EnvFamily kSlurm = EnvFamily::kSlurm;
constexpr EnvFamily kPmi = EnvFamily::kPmi;
constexpr EnvFamily kPmix = EnvFamily::kPmix;

constexpr std::array kRows{
    Row{kPoplar, "IPUOF_LOG_LEVEL", [](const Parts&) { return std::string("WARN"); }},
    Row{kPoplar, kTargetOptions, targetOptions},
    Row{kPoplar, "IPUOF_VIPU_API_HOST", [](const Parts& parts) { return parts.poplar.server_host; },
        hasPartition},
    Row{kPoplar, "IPUOF_VIPU_API_PORT",
        [](const Parts& parts) { return std::to_string(parts.poplar.server_port); }, hasPartition},
    Row{kPoplar, "IPUOF_VIPU_API_PARTITION_ID", [](const Parts& parts) { return parts.poplar.partition; },
        hasPartition},
    Row{kPoplar, "IPUOF_VIPU_API_TIMEOUT",
        [](const Parts& parts) { return std::to_string(parts.poplar.server_timeout_seconds); }, hasPartition},
    Row{kPoplar, "IPUOF_VIPU_API_GCD_ID", indexOf, hasPartition},  // a partition has a GCD per instance

    Row{EnvFamily::kTensorFlow, "TF_CONFIG", tfConfig},

    Row{kPyTorch, "RANK", indexOf},
    Row{kPyTorch, "WORLD_SIZE", countOf},
    Row{kPyTorch, "LOCAL_RANK", localIndexOf},
    Row{kPyTorch, "LOCAL_WORLD_SIZE", localCountOf},
    Row{kPyTorch, "MASTER_ADDR", masterAddressOf},
    Row{kPyTorch, "MASTER_PORT", [](const Parts& parts) { return parts.rendezvous.master_port; }},
    Row{kPyTorch, "GROUP_RANK", hostIndexOf},
    Row{kPyTorch, "GROUP_WORLD_SIZE", hostCountOf},
    Row{kPyTorch, "ROLE_NAME", [](const Parts&) { return std::string("default"); }},
    Row{kPyTorch, "ROLE_RANK", indexOf},
    Row{kPyTorch, "ROLE_WORLD_SIZE", countOf},
    Row{kPyTorch, "TORCHELASTIC_RUN_ID", [](const Parts& parts) { return parts.env.job_id; }},
    Row{kPyTorch, "TORCHELASTIC_RESTART_COUNT",
        [](const Parts& parts) { return std::to_string(parts.env.restart_count); }},
    // Makes rank 0 open the store itself, even if poprun was started by torchrun.
    Row{kPyTorch, "TORCHELASTIC_USE_AGENT_STORE", [](const Parts&) { return std::string("False"); }},

    Row{kHorovod, "HOROVOD_RANK", indexOf},
    Row{kHorovod, "HOROVOD_SIZE", countOf},
    Row{kHorovod, "HOROVOD_LOCAL_RANK", localIndexOf},
    Row{kHorovod, "HOROVOD_LOCAL_SIZE", localCountOf},
    Row{kHorovod, "HOROVOD_CROSS_RANK",
        [](const Parts& parts) { return std::to_string(parts.place.cross_rank); }},
    Row{kHorovod, "HOROVOD_CROSS_SIZE",
        [](const Parts& parts) { return std::to_string(parts.place.cross_size); }},
    Row{kHorovod, "HOROVOD_HOSTNAME", [](const Parts& parts) { return parts.place.host_name; }},
    // Instances do not communicate by MPI. Without these variables a Horovod built with MPI would silently
    // train each of them alone.
    Row{kHorovod, "HOROVOD_CONTROLLER", [](const Parts&) { return std::string("gloo"); }},
    Row{kHorovod, "HOROVOD_CPU_OPERATIONS", [](const Parts&) { return std::string("gloo"); }},
    Row{kHorovod, "HOROVOD_GLOO_RENDEZVOUS_ADDR", masterAddressOf},
    Row{kHorovod, "HOROVOD_GLOO_RENDEZVOUS_PORT",
        [](const Parts& parts) { return parts.rendezvous.horovod_port; }},

    Row{kJax, "JAX_COORDINATOR_ADDRESS",
        [](const Parts& parts) {
          return endpoint(parts.rendezvous.master_address, parts.rendezvous.jax_port);
        }},
    Row{kJax, "JAX_NUM_PROCESSES", countOf},
    Row{kJax, "JAX_PROCESS_ID", indexOf},

    Row{kOpenMpi, "OMPI_COMM_WORLD_RANK", indexOf},
    Row{kOpenMpi, "OMPI_COMM_WORLD_SIZE", countOf},
    Row{kOpenMpi, "OMPI_COMM_WORLD_LOCAL_RANK", localIndexOf},
    Row{kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE", localCountOf},
    Row{kOpenMpi, "OMPI_COMM_WORLD_NODE_RANK", localIndexOf},  // Open MPI's index on the node, not the node's
    Row{kOpenMpi, "OMPI_UNIVERSE_SIZE", countOf},
    // JAX takes the variables above without a version for Open MPI 5's mpirun, and asks for mpi4py.
    Row{kOpenMpi, "OMPI_VERSION", [](const Parts&) { return std::string("4"); }},

    // No job id and no SLURM_STEP_*: with those, programs would call Slurm's own services.
    Row{kSlurm, "SLURM_PROCID", indexOf},
    Row{kSlurm, "SLURM_LOCALID", localIndexOf},
    Row{kSlurm, "SLURM_NTASKS", countOf},
    Row{kSlurm, "SLURM_NPROCS", countOf},
    Row{kSlurm, "SLURM_NODEID", hostIndexOf},
    Row{kSlurm, "SLURM_NNODES", hostCountOf},

    Row{kPmi, "PMI_FD", [](const Parts&) { return std::to_string(kPassedDescriptor); }},
    Row{kPmi, "PMI_RANK", indexOf},
    Row{kPmi, "PMI_SIZE", countOf},
    Row{kPmi, "MPI_LOCALRANKID", localIndexOf},
    Row{kPmi, "MPI_LOCALNRANKS", localCountOf},

    // Variables that PMIx's own servers set for their clients. Each version of the library reads the address
    // that it knows.
    Row{kPmix, "PMIX_NAMESPACE", [](const Parts& parts) { return pmixNamespace(parts.env.job_id); }},
    Row{kPmix, "PMIX_RANK", indexOf},
    Row{kPmix, "PMIX_SERVER_URI41", pmixServer},
    Row{kPmix, "PMIX_SERVER_URI4", pmixServer},
    Row{kPmix, "PMIX_SERVER_URI3", pmixServer},
    Row{kPmix, "PMIX_SERVER_URI21", pmixServer},
    Row{kPmix, "PMIX_SERVER_URI2", pmixServer},
    Row{kPmix, "PMIX_SECURITY_MODE", [](const Parts&) { return std::string("native"); }},
    Row{kPmix, "PMIX_BFROP_BUFFER_TYPE",
        [](const Parts&) { return std::string("PMIX_BFROP_BUFFER_NON_DESC"); }},
    Row{kPmix, "PMIX_GDS_MODULE", [](const Parts&) { return std::string("hash"); }},
    Row{kPmix, "PMIX_HOSTNAME", [](const Parts& parts) { return parts.place.host_name; }},
    Row{kPmix, "PMIX_SERVER_TMPDIR", mpiDirectoryOf},
    Row{kPmix, "PMIX_SYSTEM_TMPDIR", mpiDirectoryOf},
    // Without it Open MPI 4 guesses its launcher by other variables, and an instance that finds none is
    // alone.
    Row{kPmix, "OMPI_MCA_schizo", [](const Parts&) { return std::string("ompi"); }},
    Row{kPmix, "OMPI_MCA_hwloc_base_binding_policy", [](const Parts&) { return std::string("none"); }},
    Row{kPmix, "OMPI_MCA_orte_externally_bound", [](const Parts&) { return std::string("1"); }},
    Row{kPmix, "OMPI_MCA_btl_vader_backing_directory", mpiDirectoryOf},
    Row{kPmix, "OMPI_MCA_btl_sm_backing_directory", mpiDirectoryOf},
    Row{kPmix, "OMPI_MCA_osc_sm_backing_directory", mpiDirectoryOf},
    Row{kPmix, "OMPI_MCA_osc_rdma_backing_directory", mpiDirectoryOf},
    // Processes of one host share memory. Looking for fabrics takes Open MPI 0.2 s.
    Row{kPmix, "OMPI_MCA_pml", [](const Parts&) { return std::string("ob1"); }, isOnOneHost},
    // Else Open MPI tries every network of the host, containers' bridges, too.
    Row{kPmix, "OMPI_MCA_btl_tcp_if_include", ownNetwork, mayIncludeForBtl},
    Row{kPmix, "OMPI_MCA_oob_tcp_if_include", ownNetwork, mayIncludeForOob},
};

// Adds the user's variables, replacing existing ones.
void overlay(std::vector<Variable>& variables, std::span<const Variable> users, const EnvFamilies& families) {
  for (const auto& [name, value] : users) {
    const auto same = std::find_if(variables.begin(), variables.end(),
                                   [&name](const Variable& each) { return each.first == name; });
    if (same == variables.end()) {
      variables.emplace_back(name, value);
    } else if (name == kTargetOptions && families.contains(kPoplar)) {
      same->second = mergedJsonObjects(same->second, value);  // as Poplar's own tools treat it
    } else {
      same->second = value;
    }
  }
}

Status fitsThroughExec(const std::vector<Variable>& variables, int num_instances) {
  for (const auto& [name, value] : variables) {
    if (name.size() + value.size() + 2 <= kMaxVariableBytes) continue;
    const std::string limit = name + " for " + counted(num_instances, "instance") + " needs " +
                              counted(static_cast<std::int64_t>(value.size()), "byte") +
                              ", more than the 128 KiB that the kernel passes on; ";
    return {Code::kResourceExhausted,
            limit + (name == "TF_CONFIG" ? "use fewer instances, or --env-for without tensorflow"
                                         : "make it shorter, or do not set it")};
  }
  return {};
}

}  // namespace

std::string pmixNamespace(const std::string& job_id) {
  return "poprun-" + job_id;
}

std::string pmixServerNamespace(const std::string& job_id) {
  return "poprun-server-" + job_id;
}

std::string endpoint(const std::string& address, const std::string& port) {
  const bool ipv6 = address.find(':') != std::string::npos && !address.starts_with('[');
  return (ipv6 ? '[' + address + ']' : address) + ':' + port;
}

std::string tfCluster(std::span<const std::string> endpoints, bool chief, bool evaluator) {
  if (evaluator && !endpoints.empty()) endpoints = endpoints.first(endpoints.size() - 1);
  const auto list = [](std::span<const std::string> these) {
    std::string json;
    for (const std::string& each : these) json += (json.empty() ? "" : ",") + jsonQuoted(each);
    return '[' + json + ']';
  };
  std::string json;
  if (chief && !endpoints.empty()) {
    json = R"("chief":)" + list(endpoints.first(1));
    endpoints = endpoints.subspan(1);
  }
  if (!endpoints.empty()) json += (json.empty() ? "" : ",") + (R"("worker":)" + list(endpoints));
  return '{' + json + '}';
}

Result<std::vector<Variable>> renderEnvironment(const EnvironmentParts& parts) {
  std::vector<Variable> variables = render(parts.env);
  variables.reserve(variables.size() + kRows.size() + parts.job.size() + parts.program.size());
  for (const Row& row : kRows) {
    if (row.family == kPmix && parts.rendezvous.pmix_port.empty()) continue;  // not served on this host
    if (parts.families.contains(row.family) && row.applies(parts))
      variables.emplace_back(row.name, row.value(parts));
  }
  overlay(variables, parts.job, parts.families);
  overlay(variables, parts.program, parts.families);
  POP_RETURN_IF_ERROR(fitsThroughExec(variables, parts.env.num_instances));
  return variables;
}

}  // namespace pop::contract
