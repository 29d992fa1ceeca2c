// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmix_program/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/text.h"

namespace pop::pmix {
namespace {

using agent::PmixHost;
using agent::PmixJob;

// ---- values for libpmix

using Info = pmix_info_t;

Info textInfo(const char* key, const std::string& value) {
  Info info{};
  PMIx_Info_load(&info, key, value.c_str(), PMIX_STRING);
  return info;
}

template <typename T>
Info info(const char* key, T value, pmix_data_type_t type) {
  Info result{};
  PMIx_Info_load(&result, key, &value, type);
  return result;
}

Info countInfo(const char* key, std::size_t value) {
  return info(key, static_cast<std::uint32_t>(value), PMIX_UINT32);
}

Info groupInfo(const char* key, std::vector<Info> parts) {
  pmix_data_array_t group{.type = PMIX_INFO, .size = parts.size(), .array = parts.data()};
  Info result{};
  PMIx_Info_load(&result, key, &group, PMIX_DATA_ARRAY);  // copies them
  return result;
}

std::string ranksOf(const PmixHost& host) {
  std::string ranks;
  for (int i = 0; i < host.count; ++i) ranks += (i == 0 ? "" : ",") + std::to_string(host.first_instance + i);
  return ranks;
}

template <typename Text>
std::string joined(const std::vector<PmixHost>& hosts, const char* separator, const Text& text) {
  std::string all;
  for (const PmixHost& host : hosts) all += (all.empty() ? "" : separator) + text(host);
  return all;
}

// libpmix packs lists of hosts and ranks.
using Packer = pmix_status_t (*)(const char*, char**);
std::string packed(Packer packer, const std::string& list) {
  char* text = nullptr;
  if (packer(list.c_str(), &text) != PMIX_SUCCESS) return list;
  std::string result = text;
  std::free(text);
  return result;
}

// Which program it runs is known of instances of this host, and asked of nobody but itself.
Info processInfo(const PmixJob& job, std::size_t host, int local) {
  const bool is_here = host == static_cast<std::size_t>(job.this_host);
  const int program = is_here ? job.programs[static_cast<std::size_t>(local)] : 0;
  const auto rank = static_cast<pmix_rank_t>(job.hosts[host].first_instance + local);
  const auto local_rank = static_cast<std::uint16_t>(local);
  return groupInfo(PMIX_PROC_DATA,
                   {info(PMIX_RANK, rank, PMIX_PROC_RANK), info(PMIX_LOCAL_RANK, local_rank, PMIX_UINT16),
                    info(PMIX_NODE_RANK, local_rank, PMIX_UINT16), countInfo(PMIX_NODEID, host),
                    countInfo(PMIX_APPNUM, static_cast<std::size_t>(program))});
}

std::vector<Info> jobInfos(const PmixJob& job) {
  const PmixHost& here = job.hosts[static_cast<std::size_t>(job.this_host)];
  const auto size = static_cast<std::size_t>(job.num_instances);
  std::vector<Info> infos{
      textInfo(PMIX_JOBID, job.name),
      countInfo(PMIX_UNIV_SIZE, size),
      countInfo(PMIX_JOB_SIZE, size),
      countInfo(PMIX_MAX_PROCS, size),
      countInfo(PMIX_JOB_NUM_APPS, 1),
      countInfo(PMIX_NUM_NODES, job.hosts.size()),
      countInfo(PMIX_LOCAL_SIZE, static_cast<std::size_t>(here.count)),
      textInfo(PMIX_LOCAL_PEERS, ranksOf(here)),
      info(PMIX_LOCALLDR, static_cast<pmix_rank_t>(here.first_instance), PMIX_PROC_RANK),
      textInfo(PMIX_NODE_MAP, packed(PMIx_generate_regex,
                                     joined(job.hosts, ",", [](const PmixHost& host) { return host.name; }))),
      textInfo(PMIX_PROC_MAP, packed(PMIx_generate_ppn, joined(job.hosts, ";", ranksOf))),
      textInfo(PMIX_TMPDIR, job.directory),
      textInfo(PMIX_NSDIR, job.directory + "/job"),
      info(PMIX_TDIR_RMCLEAN, true, PMIX_BOOL),
  };
  for (std::size_t host = 0; host < job.hosts.size(); ++host) {
    for (int local = 0; local < job.hosts[host].count; ++local)
      infos.push_back(processInfo(job, host, local));
  }
  return infos;
}

bool succeeded(pmix_status_t status) {
  return status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED;
}

Status check(const char* call, pmix_status_t status) {
  return succeeded(status)
             ? Status()
             : failedPrecondition(std::string(call) + " of libpmix failed: " + PMIx_Error_string(status));
}

// ---- the server

class Server final : public PmixServer {
 public:
  Server(Loop& loop, const PmixJob& job, ServerEvents events)
      : loop_(loop), job_(job), events_(std::move(events)) {}

  Status begin();
  int port() const override { return port_; }
  void release(std::string blob) override;
  void ended(int instance) override;

  // From libpmix's thread. What a callback was given is valid until it returns.
  pmix_status_t enterFence(std::size_t processes, const pmix_proc_t* process, std::string blob,
                           pmix_modex_cbfunc_t answer, void* token);
  void abort(int instance, int status, std::string message, pmix_op_cbfunc_t answer, void* token);
  void finalize(int instance, pmix_op_cbfunc_t answer, void* token);
  void refuseSpawn(int instance, std::string command);
  void begun(int instance);

 private:
  /// An instance may start several programs that use MPI, one after the other.
  struct Use {
    int begun = 0;      ///< calls of MPI_Init
    int finalized = 0;  ///< and of MPI_Finalize
    bool ended = false;
  };
  struct Fence {
    std::string blob;
    pmix_modex_cbfunc_t answer = nullptr;
    void* token = nullptr;
  };

  Status registerInstances();
  Result<int> askPort();
  void reach();
  void findStuck();

  Loop& loop_;
  const PmixJob job_;
  const ServerEvents events_;
  int port_ = 0;
  std::deque<Fence> fences_;  ///< the first one is being reached, by the job
  std::map<int, Use> uses_;   ///< by instance
};

// libpmix gives most callbacks nothing to know the server by.
Server* server = nullptr;

pmix_status_t onFence(const pmix_proc_t processes[], std::size_t count, const pmix_info_t /*infos*/[],
                      std::size_t /*num_infos*/, char* data, std::size_t bytes, pmix_modex_cbfunc_t answer,
                      void* token) {
  return server->enterFence(count, processes, {data, data == nullptr ? 0 : bytes}, answer, token);
}

pmix_status_t onAbort(const pmix_proc_t* process, void* /*object*/, int status, const char message[],
                      pmix_proc_t /*processes*/[], std::size_t /*count*/, pmix_op_cbfunc_t answer,
                      void* token) {
  server->abort(static_cast<int>(process->rank), status, message == nullptr ? "" : message, answer, token);
  return PMIX_SUCCESS;
}

pmix_status_t onFinalized(const pmix_proc_t* process, void* /*object*/, pmix_op_cbfunc_t answer,
                          void* token) {
  server->finalize(static_cast<int>(process->rank), answer, token);
  return PMIX_SUCCESS;
}

pmix_status_t onSpawn(const pmix_proc_t* process, const pmix_info_t /*infos*/[], std::size_t /*num_infos*/,
                      const pmix_app_t programs[], std::size_t count, pmix_spawn_cbfunc_t /*answer*/,
                      void* /*token*/) {
  const char* const command = count == 0 ? nullptr : programs[0].cmd;
  server->refuseSpawn(static_cast<int>(process->rank), command == nullptr ? "" : command);
  return PMIX_ERR_NOT_SUPPORTED;
}

// Those that poprun was started with, under another launcher, would name that one's server.
void forgetOthersVariables() {
  std::vector<std::string> names;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    if (variable.starts_with("PMIX_") && !variable.starts_with("PMIX_MCA_"))
      names.emplace_back(variable.substr(0, variable.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

pmix_status_t onConnected(const pmix_proc_t* process, void* /*object*/, pmix_op_cbfunc_t /*answer*/,
                          void* /*token*/) {
  server->begun(static_cast<int>(process->rank));
  return PMIX_OPERATION_SUCCEEDED;
}

Status Server::begin() {
  forgetOthersVariables();
  ::setenv("PMIX_MCA_gds", "hash", 1);  // the others write files
  // hwloc's plugins look for graphics cards, which no instance asks about here.
  ::setenv("HWLOC_PLUGINS_PATH", job_.directory.c_str(), 0);
  std::array infos{textInfo(PMIX_SERVER_NSPACE, job_.server_name),
                   info(PMIX_SERVER_RANK, pmix_rank_t{0}, PMIX_PROC_RANK),
                   textInfo(PMIX_SERVER_TMPDIR, job_.directory), textInfo(PMIX_SYSTEM_TMPDIR, job_.directory),
                   // Else each instance finds out about the machine by itself, which takes longer than all
                   // the rest.
                   info(PMIX_SERVER_SHARE_TOPOLOGY, true, PMIX_BOOL),
                   textInfo(PMIX_HOSTNAME, job_.hosts[static_cast<std::size_t>(job_.this_host)].name)};
  // libpmix answers calls that are not here: not supported.
  static pmix_server_module_t module{};
  module.client_connected = onConnected;
  module.client_finalized = onFinalized;
  module.abort = onAbort;
  module.fence_nb = onFence;
  module.spawn = onSpawn;
  server = this;
  POP_RETURN_IF_ERROR(check("PMIx_server_init", PMIx_server_init(&module, infos.data(), infos.size())));
  POP_RETURN_IF_ERROR(registerInstances());
  POP_ASSIGN_OR_RETURN(port_, askPort());
  return {};
}

Status Server::registerInstances() {
  const PmixHost& here = job_.hosts[static_cast<std::size_t>(job_.this_host)];
  std::vector<Info> infos = jobInfos(job_);
  POP_RETURN_IF_ERROR(check("PMIx_server_register_nspace",
                            PMIx_server_register_nspace(job_.name.c_str(), here.count, infos.data(),
                                                        infos.size(), nullptr, nullptr)));
  for (int local = 0; local < here.count; ++local) {
    pmix_proc_t process{};
    job_.name.copy(process.nspace, PMIX_MAX_NSLEN);
    process.rank = static_cast<pmix_rank_t>(here.first_instance + local);
    POP_RETURN_IF_ERROR(
        check("PMIx_server_register_client",
              PMIx_server_register_client(&process, ::geteuid(), ::getegid(), nullptr, nullptr, nullptr)));
  }
  return {};
}

// It is in the variables that libpmix would give a client: PMIX_SERVER_URI4=name.0;tcp4://127.0.0.1:40123.
Result<int> Server::askPort() {
  pmix_proc_t process{};
  job_.name.copy(process.nspace, PMIX_MAX_NSLEN);
  process.rank =
      static_cast<pmix_rank_t>(job_.hosts[static_cast<std::size_t>(job_.this_host)].first_instance);
  char** variables = nullptr;
  POP_RETURN_IF_ERROR(check("PMIx_server_setup_fork", PMIx_server_setup_fork(&process, &variables)));
  for (char** each = variables; each != nullptr && *each != nullptr; ++each) {
    const std::string variable = *each;
    if (!variable.starts_with("PMIX_SERVER_URI4=")) continue;
    POP_ASSIGN_OR_RETURN(const std::int64_t port, parseInteger(variable.substr(variable.rfind(':') + 1)));
    return static_cast<int>(port);
  }
  return failedPrecondition("libpmix does not say where its server listens");
}

// ---- calls of the instances

// True if all instances of the job enter: the only fence of several hosts that we have.
bool areAll(const pmix_proc_t* processes, std::size_t count, int num_instances) {
  if (count == 1 && processes->rank == PMIX_RANK_WILDCARD) return true;
  std::set<pmix_rank_t> ranks;
  for (std::size_t i = 0; i < count; ++i) ranks.insert(processes[i].rank);
  return ranks.size() == static_cast<std::size_t>(num_instances);
}

pmix_status_t Server::enterFence(std::size_t processes, const pmix_proc_t* process, std::string blob,
                                 pmix_modex_cbfunc_t answer, void* token) {
  if (!areAll(process, processes, job_.num_instances)) return PMIX_ERR_NOT_SUPPORTED;
  loop_.post([this, fence = Fence{std::move(blob), answer, token}]() mutable {
    fences_.push_back(std::move(fence));
    if (fences_.size() == 1) reach();
  });
  return PMIX_SUCCESS;
}

void Server::reach() {
  events_.fence_reached(std::exchange(fences_.front().blob, {}));
}

void Server::release(std::string blob) {
  if (fences_.empty()) return;
  const Fence fence = std::move(fences_.front());
  fences_.pop_front();
  // libpmix reads the bytes later, in its thread.
  auto* const kept = new std::string(std::move(blob));
  fence.answer(
      PMIX_SUCCESS, kept->data(), kept->size(), fence.token,
      [](void* done) { delete static_cast<std::string*>(done); }, kept);
  if (!fences_.empty()) reach();
}

// The instance ends when it has its answer, so its reason is told first.
void Server::abort(int instance, int status, std::string message, pmix_op_cbfunc_t answer, void* token) {
  loop_.post([this, instance, status, message = std::move(message), answer, token] {
    events_.aborted(instance, status, message);
    answer(PMIX_SUCCESS, token);
  });
}

void Server::finalize(int instance, pmix_op_cbfunc_t answer, void* token) {
  loop_.post([this, instance, answer, token] {
    ++uses_[instance].finalized;
    events_.finalized();
    answer(PMIX_SUCCESS, token);
  });
}

void Server::refuseSpawn(int instance, std::string command) {
  loop_.post([this, instance, command = std::move(command)] { events_.spawn_refused(instance, command); });
}

// ---- who waits for an instance that has ended

void Server::begun(int instance) {
  loop_.post([this, instance] {
    Use& use = uses_[instance];
    if (use.begun++ > use.finalized) return events_.unfinished(instance);
    findStuck();
  });
}

void Server::ended(int instance) {
  uses_[instance].ended = true;
  findStuck();
}

// MPI_Init waits for those of all instances. In MPI_Finalize libpmix waits for nobody who has ended.
void Server::findStuck() {
  for (const auto& [other, gone] : uses_) {
    if (!gone.ended) continue;
    for (const auto& [instance, use] : uses_) {
      if (use.begun > gone.begun) return events_.stuck(instance, other);
    }
  }
}

}  // namespace

Result<std::unique_ptr<PmixServer>> PmixServer::start(Loop& loop, const PmixJob& job, ServerEvents events) {
  auto started = std::make_unique<Server>(loop, job, std::move(events));
  POP_RETURN_IF_ERROR(started->begin());
  return std::unique_ptr<PmixServer>(std::move(started));
}

}  // namespace pop::pmix
