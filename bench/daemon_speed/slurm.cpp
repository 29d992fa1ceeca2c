// SPDX-License-Identifier: Apache-2.0
#include "bench/daemon_speed/slurm.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/daemon_speed/measures.h"
#include "bench/harness/command.h"
#include "bench/harness/session.h"
#include "common/os/helper_run.h"
#include "tests/testing/file_text.h"
#include "tests/testing/free_port.h"
#include "tests/testing/process_tree.h"

namespace pop::bench {
namespace {

constexpr std::chrono::milliseconds kStartLimit{20'000};
constexpr std::chrono::seconds kQueryLimit{20};

std::string hostName() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

std::string userName() {
  const passwd* const entry = ::getpwuid(::geteuid());
  return entry == nullptr ? "root" : entry->pw_name;
}

// Debian puts these where only root's PATH leads.
std::string serverProgram(const std::string& name) {
  const std::string path = "/usr/sbin/" + name;
  return ::access(path.c_str(), X_OK) == 0 ? path : findInPath(name);
}

}  // namespace

// As many processors as popdistd's host has slots. Nothing is asked of a key server or a database, the
// scheduler begins at once, and no task is bound: what is left is Slurm itself at its quickest.
Status SlurmCluster::writeConfiguration() const {
  std::filesystem::create_directories(path("state"));
  std::filesystem::create_directories(path("spool"));
  const std::string user = userName(), host = hostName();
  std::ofstream out(path("slurm.conf"));
  out << "ClusterName=bench\nSlurmctldHost=" << host << "(127.0.0.1)\nSlurmUser=" << user
      << "\nSlurmdUser=" << user << "\nSlurmctldPort=" << testing::freePort()
      << "\nSlurmdPort=" << testing::freePort() << "\nAuthType=auth/none\nCredType=cred/none\n"
      << "MpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
      << "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nReturnToService=2\n"
      << "AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n"
      << "JobCompType=jobcomp/none\nMaxJobCount=100000\nSlurmdParameters=config_overrides\n"
      << "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,default_queue_depth=1000\n"
      << "StateSaveLocation=" << path("state") << "\nSlurmdSpoolDir=" << path("spool")
      << "\nSlurmctldPidFile=" << path("slurmctld.pid") << "\nSlurmdPidFile=" << path("slurmd.pid")
      << "\nNodeName=" << host << " NodeAddr=127.0.0.1 CPUs=64 State=UNKNOWN\n"
      << "PartitionName=bench Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
  std::ofstream(path("job.sh")) << "#!/bin/sh\nexit 0\n";
  if (!out.flush()) return internalError("slurm.conf could not be written in " + directory_.path());
  return {};
}

bool SlurmCluster::startUnless(bool no_peers) {
  const Status started = no_peers ? internalError("not asked for") : start();
  return isUsable(kSlurm, started.message());
}

Status SlurmCluster::start() {
  const std::string controller = serverProgram("slurmctld"), node = serverProgram("slurmd");
  if (controller.empty() || node.empty() || findInPath("sbatch").empty() || findInPath("srun").empty())
    return internalError("slurm-wlm is not installed (bench/setup_peers installs it)");
  POP_RETURN_IF_ERROR(writeConfiguration());
  ::setenv("SLURM_CONF", path("slurm.conf").c_str(), 1);
  POP_ASSIGN_OR_RETURN(controller_, Served::start({controller, "-D", "-c"}, path("slurmctld.log")));
  POP_ASSIGN_OR_RETURN(node_, Served::start({node, "-D", "-N", hostName()}, path("slurmd.log")));
  const bool ready = testing::waitUntil(
      [] {
        const Result<std::string> state = os::outputOf({"sinfo", "-h", "-o", "%T"}, kQueryLimit);
        return state.ok() && state.value().starts_with("idle");
      },
      kStartLimit);
  if (ready) return {};
  return internalError("slurm does not get ready: " +
                       testing::fileText(path("slurmctld.log")).substr(0, 2000));
}

std::vector<std::string> SlurmCluster::sbatch(bool held) const {
  std::vector<std::string> command{"sbatch", "-Q", "-o", "/dev/null", "-D", "/"};
  if (held) command.emplace_back("--hold");
  command.push_back(path("job.sh"));
  return command;
}

std::vector<std::string> SlurmCluster::srun(int count) const {
  return {"srun", "-Q", "-n" + std::to_string(count), "--overcommit", "--mpi=none", "/bin/echo", "line"};
}

Result<bool> SlurmCluster::isIdle() const {
  POP_ASSIGN_OR_RETURN(const std::string jobs,
                       os::outputOf({"squeue", "-h", "-t", "PD,CF,R,CG", "-o", "%r"}, kQueryLimit));
  return jobs.empty();
}

}  // namespace pop::bench
