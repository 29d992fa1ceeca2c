// SPDX-License-Identifier: Apache-2.0
#include "popdistd/program.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <variant>

#include "common/contract/version.h"
#include "common/log/log.h"
#include "common/sys/host_name.h"
#include "common/sys/kept_memory.h"
#include "common/sys/private_memory.h"
#include "common/sys/random_name.h"
#include "popdistd/access/access.h"
#include "popdistd/access/issuer.h"
#include "popdistd/daemon.h"
#include "popdistd/daemon_options.h"
#include "popdistd/dev_host.h"
#include "popdistd/follower.h"
#include "popdistd/jobs/daemon_core.h"
#include "popdistd/store/sqlite_store.h"

namespace pop::popdistd {
namespace {

// At once: each moment more, hosts and users would hear that there are no jobs. These go on, and what was
// acknowledged is on the disk.
void giveUp(const Status& why) {
  std::fprintf(stderr, "popdistd: ends, since it cannot read its store (jobs go on): %s\n",
               why.message().c_str());
  std::_Exit(1);
}

// `headers`: of connections that other popdistds pass on. `begin_turns`: null, or what comes first in each
// turn of the loop.
Status serveStore(DaemonOptions options, Store& store, std::shared_ptr<HeaderCheck> headers,
                  std::function<void()> begin_turns) {
  std::optional<DevHost> dev;
  if (options.dev) {
    POP_ASSIGN_OR_RETURN(dev, DevHost::prepare(options.state_directory, ownUser()));
    options.tls_directory = dev->tlsDirectory();
  }
  Issuer issuer;
  if (!options.tls_directory.empty()) {
    POP_ASSIGN_OR_RETURN(issuer, issuerFrom(options.tls_directory));
  }
  Accounts accounts({.own_user = ownUser(),
                     .admins = {options.admins.begin(), options.admins.end()},
                     .usual_role = options.usual_role,
                     .random_name = [] { return sys::randomName(); }});
  POP_RETURN_IF_ERROR(accounts.load(store));
  os::EpollLoop loop;
  loop.beginTurnsWith(std::move(begin_turns));
  CoreSettings settings{
      .random_name = [] { return sys::randomName(); },
      .version = contract::kVersion,
      .is_admin = [&accounts](const std::string& user) { return accounts.roleOf(user) == v1::ROLE_ADMIN; },
      .is_shut_out = [&accounts](const std::string& user) { return accounts.roleOf(user) == v1::ROLE_NONE; },
      .issue = issuer,
      .host_rules = {.most_slots = options.most_slots},
      .retention = {.age = std::chrono::hours(24) * options.keep_days, .most_jobs = options.keep_jobs},
      .temporary_directory = options.state_directory,
      .queue = {.backfill_age = options.backfill_age, .fair_share = options.fair_share},
      .vipu_server = {options.advertised_host, options.listen.port},
      .leader = options.etcd.addresses.empty() ? "" : peerAddress(options),
      .warn = [](const std::string& line) { log::warning(line); },
      .audit = [](const std::string& line) { log::warning(line); },
      .give_up = giveUp};
  POP_ASSIGN_OR_RETURN(const std::unique_ptr<DaemonCore> core,
                       DaemonCore::start(loop, store, std::move(settings)));
  Pods& pods = core->pods();
  if (dev) POP_RETURN_IF_ERROR(pods.addDefaultInventory(sys::hostName()));
  Access access({.loop = loop,
                 .store = store,
                 .commits = core->commits(),
                 .accounts = accounts,
                 .api = *core,
                 .pods = pods.api(),
                 .vipu = pods.vipu(),
                 .random_name = [] { return sys::randomName(); },
                 .audit_file = options.state_directory + "/audit.jsonl",
                 .roles_changed = [&core] { core->rolesChanged(); }});
  POP_RETURN_IF_ERROR(access.start());
  return runDaemon(
      loop,
      {.served = {access.api(), *core, access.pods(), access.vipu(), &access.access()},
       .measures = [&core] { return core->measures(); },
       .identify = [&accounts](const Peer& peer,
                               const Credentials& said) { return accounts.identify(peer, said); },
       .is_still_good = [&accounts](const Peer& peer) { return accounts.isStillGood(peer); },
       .authority = [&accounts](const std::string& pem) { accounts.setAuthority(pem); },
       .sessions = {.begin = [&accounts](const std::string& token,
                                         const Peer& peer) { return accounts.beginSession(token, peer); },
                    .end = [&accounts](const std::string& session) { accounts.endSession(session); }},
       .listening =
           [&dev, &core](int port) {
             core->listensAt(port);
             if (dev) dev->start(port);
           },
       .stopping = [&pods](const Status& why) { pods.stopping(why); },
       .headers = std::move(headers)},
      options);
}

Status serve(DaemonOptions options) {
  if (options.etcd.addresses.empty()) {
    POP_ASSIGN_OR_RETURN(const std::unique_ptr<SqliteStore> store,
                         SqliteStore::open(options.state_directory));
    return serveStore(std::move(options), *store, std::make_shared<HeaderCheck>(), nullptr);
  }
  POP_ASSIGN_OR_RETURN(const std::optional<Lead> lead, waitToLead(options));
  if (!lead) return {};
  // Before the thread that keeps the lease, should all have been stopped for long.
  return serveStore(std::move(options), *lead->store, std::make_shared<HeaderCheck>(lead->header_key),
                    [&leadership = *lead->leadership] { leadership.check(); });
}

}  // namespace

int runProgram(const std::vector<std::string>& arguments) {
  std::variant<DaemonOptions, int> options = parseDaemonOptions(arguments);
  if (const int* const exit_code = std::get_if<int>(&options)) return *exit_code;
  log::setLevel(std::get<DaemonOptions>(options).log_level);
  sys::keepFreedMemory();
  Status served = sys::keepMemoryPrivate();
  if (served.ok()) served = serve(std::move(std::get<DaemonOptions>(options)));
  if (served.ok()) return 0;
  std::fprintf(stderr, "popdistd: %s\n", served.message().c_str());
  return 1;
}

}  // namespace pop::popdistd
