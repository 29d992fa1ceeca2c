// SPDX-License-Identifier: Apache-2.0
#include "agent/service/serve_options.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "agent/keeper/descendants.h"
#include "agent/service/job_cgroups.h"
#include "agent/service/join_options.h"
#include "agent/service/known_users.h"
#include "agent/service/reload.h"
#include "agent/service/service.h"
#include "agent/tls/command_options.h"
#include "common/agent_service/agent_server.h"
#include "common/base/text.h"
#include "common/log/log.h"
#include "common/os/place.h"
#include "common/sys/kept_memory.h"
#include "common/sys/own_program.h"
#include "common/sys/private_memory.h"
#include "common/sys/process_setup.h"
#include "common/tls/host_tls.h"
#include "common/tls/tls_context.h"

namespace pop::agent {
namespace {

using HostTls = std::shared_ptr<const tls::TlsContext>;

struct ServeOptions {
  std::string listen = "127.0.0.1:7571";
  std::string tls_directory;
  std::string users_file;
  int spares = 16;
  JoinOptions join;
};

// SIGHUP may arrive while the service starts and looks users up. It stays blocked until signals are watched,
// since its default action would end the service.
void setHangups(int how) {
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  ::pthread_sigmask(how, &hangup, nullptr);
}

int complain(const std::string& mistake) {
  std::fprintf(stderr, "popdist-agent serve: %s\n", mistake.c_str());
  return 1;
}

Result<HostTls> hostTlsFrom(const std::string& directory) {
  POP_ASSIGN_OR_RETURN(const tls::TlsFiles files, tls::loadHostTls(directory));
  for (const std::string& warning : files.warnings) log::warning(warning);
  return tls::TlsContext::make(files, tls::TlsRole::kServer);
}

// After `stop` no more users are looked up.
Result<UsersFile> usersFrom(const std::string& path, const std::stop_token& stop = {}) {
  ParsedUsers parsed = loadUsers(path, [&stop](const std::string& name) {
    return stop.stop_requested() ? unavailable("the agent service is being stopped") : lookUpUser(name);
  });
  if (parsed.mistakes.empty()) return std::move(parsed.users);
  std::string all;
  for (const std::string& mistake : parsed.mistakes) all += (all.empty() ? "" : "\n") + mistake;
  return invalidArgument(all);
}

// Without TLS clients cannot be identified: they all count as this service's own user.
UsersFile onlyUser(const UnixUser& self) {
  UsersFile users;
  users.users.emplace(self.name, AllowedUser{self, {}});
  return users;
}

// As popdistd names it in certificates of jobs; of a host in no cluster, as its own certificate does.
std::vector<std::string> namesOf(const ServeOptions& options) {
  std::vector<std::string> names;
  if (!options.join.controller.empty()) {
    names = {ownNameIn(options.join)};
  } else if (!options.tls_directory.empty()) {
    const Result<tls::TlsFiles> files = tls::loadHostTls(options.tls_directory);
    if (files.ok()) names = tls::hostNamesIn(files.value());
  }
  for (std::string& name : names) name = lowerCase(name);
  return names;
}

// Said once, in the log.
std::unique_ptr<JobCgroups> cgroupsOfJobs() {
  Result<std::unique_ptr<JobCgroups>> cgroups = JobCgroups::make();
  if (cgroups.ok()) return std::move(*cgroups);
  log::info(
      "jobs have no cgroups of their own, so what kills its keeper and its agent may escape for a moment: " +
      cgroups.status().message());
  return nullptr;
}

class Serving {
 public:
  Serving(const ServeOptions& options, UsersFile users, const UnixUser& self)
      : options_(options),
        self_(self),
        reload_(loop_, [this](const std::stop_token& stop) { return readAgain(stop); }),
        known_(loop_, lookUpLogin),
        cgroups_(cgroupsOfJobs()),
        service_(loop_, Admission(std::move(users), self, makeJobToken), sys::ownProgram("popdist-agent"),
                 {.own_name = options.tls_directory.empty() ? self.name : "",
                  .host_names = namesOf(options),
                  .spares = {.most = options.spares},
                  .known = [this](const std::string& user) { return known_.find(user); },
                  .holds = {cgroups_.get(), older_}}),
        server_(loop_,
                {.run = [this](std::shared_ptr<wire::ServedCall> call) { service_.accept(std::move(call)); },
                 .describe = [this](const wire::Peer& peer) { return service_.describe(peer); },
                 .end_job =
                     [this](const wire::Peer& peer, const wire::v1::EndJobRequest& request) {
                       return service_.endJob(peer, request.job_id(), request.token());
                     },
                 .note = [](const std::string& line) { log::info(line); }}) {}

  int run(const os::Place& place, HostTls tls) {
    const Result<int> port = server_.listenAt(place.address, place.port, std::move(tls));
    if (!port.ok())
      return complain("cannot listen at " + options_.listen + ": " + port.status().message() +
                      " (does another popdist-agent serve run there, or is the address not this host's?)");
    if (const Status joins = join(port.value()); !joins.ok()) return complain(joins.message());
    std::printf("popdist-agent: listening at %s, port %d\n", place.address.c_str(), port.value());
    std::fflush(stdout);
    loop_.watchSignals({SIGTERM, SIGINT, SIGHUP}, [this](const os::Signal& signal) {
      if (signal.number == SIGHUP) return reload();
      if (std::exchange(stopping_, true)) return;
      stop(signal);
    });
    setHangups(SIG_UNBLOCK);
    loop_.run();
    return 0;
  }

 private:
  Status join(int port) {
    if (options_.join.controller.empty()) return {};
    POP_ASSIGN_OR_RETURN(JoinSettings settings,
                         joinSettings(options_.join, options_.tls_directory, self_, port));
    settings.known = [this](const std::string& user) { return known_.find(user); };
    settings.holds = {cgroups_.get(), older_};
    joined_.emplace(loop_, service_.admission(), std::move(settings),
                    [this](const std::string& job_id) { return service_.runsJob(job_id); });
    return joined_->start();
  }

  void stop(const os::Signal& signal) {
    log::info("ending " + counted(service_.runningJobs(), "job") +
              (joined_ ? " and " + counted(joined_->runningRunners(), "runner") : "") + ": signal " +
              std::to_string(signal.number));
    reload_.stop();
    known_.stop();
    server_.sayStopping();
    const auto left = std::make_shared<int>(joined_ ? 2 : 1);
    const auto stopped = [this, left] {
      if (--*left == 0) loop_.stop();
    };
    if (joined_) joined_->stop(stopped);
    service_.stop(stopped);
  }

  void reload() {
    if (options_.tls_directory.empty())
      return log::info("nothing to reload: without --tls only this service's own user can run jobs");
    reload_.start();
  }

  // Runs while the service is running.
  Reload::Task readAgain(const std::stop_token& stop) {
    const auto users = std::make_shared<Result<UsersFile>>(usersFrom(options_.users_file, stop));
    const auto tls = std::make_shared<Result<HostTls>>(hostTlsFrom(options_.tls_directory));
    return [this, users, tls] { use(std::move(*users), std::move(*tls)); };
  }

  void use(Result<UsersFile> users, Result<HostTls> tls) {
    known_.forget();  // before idle processes are started anew
    if (users.ok()) {
      service_.setUsers(std::move(*users));
      log::info("reloaded the users file");
    } else {
      log::warning("cannot reload the users file, so the old one stays in force: " +
                   users.status().message());
    }
    if (tls.ok()) {
      server_.setTls(std::move(*tls));
      log::info("reloaded the certificates");
    } else {
      log::warning("cannot reload the certificates, so the old ones stay in force: " +
                   tls.status().message());
    }
  }

  const ServeOptions options_;
  const UnixUser self_;
  os::EpollLoop loop_;
  Reload reload_;  ///< goes after those whose clients wait for a last word, as the next one
  KnownUsers known_;
  const std::unique_ptr<JobCgroups> cgroups_;  ///< null: there can be none
  const std::set<pid_t> older_ = keeper::ownChildren();
  Service service_;
  std::optional<JoinedHost> joined_;
  wire::AgentServer server_;
  bool stopping_ = false;
};

int serve(const ServeOptions& options) {
  // Must come first: looking users up starts programs.
  if (const Status ready = sys::setUpForJobs(); !ready.ok()) return complain(ready.message());
  // Processes without keeper and agent come to the service, which ends them.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return complain("cannot become a child subreaper");
  if (const Status hidden = sys::keepMemoryPrivate(); !hidden.ok()) return complain(hidden.message());
  sys::keepFreedMemory();
  setHangups(SIG_BLOCK);
  const bool has_tls = !options.tls_directory.empty();
  if (has_tls && options.users_file.empty())
    return complain("--tls needs --users FILE, which lists the users who may run jobs");
  if (!has_tls && !options.users_file.empty())
    return complain("--users needs --tls DIR: without certificates the service cannot tell users apart");
  if (const Status joins = checkJoinOptions(options.join, has_tls); !joins.ok())
    return complain(joins.message());
  const Result<os::Place> place = os::parsePlace("--listen", options.listen);
  if (!place.ok()) return complain(place.status().message());
  if (const Status allowed = checkListening(place.value().address, has_tls, ::geteuid()); !allowed.ok())
    return complain(allowed.message());
  const Result<UnixUser> self = lookUpUser(::geteuid());
  if (!self.ok()) return complain(self.status().message());
  HostTls tls;
  UsersFile users = onlyUser(self.value());
  if (has_tls) {
    Result<HostTls> loaded = hostTlsFrom(options.tls_directory);
    if (!loaded.ok()) return complain(loaded.status().message());
    tls = std::move(*loaded);
    Result<UsersFile> named = usersFrom(options.users_file);
    if (!named.ok()) return complain(named.status().message());
    users = std::move(*named);
  }
  log::setLevel(log::Level::kInfo);
  return Serving(options, std::move(users), self.value()).run(place.value(), std::move(tls));
}

}  // namespace

int runServe(const std::vector<std::string>& arguments) {
  ServeOptions options;
  CLI::App app("Runs poprun's jobs on this host.", "popdist-agent serve");
  app.add_option("--listen", options.listen, "address and port")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  app.add_option("--tls", options.tls_directory,
                 "directory with ca.pem and this host's certificate and key, made by init-tls")
      ->type_name("DIR");
  app.add_option("--users", options.users_file, "lists the users who may run jobs, and their Unix users")
      ->type_name("FILE");
  app.add_option("--spares", options.spares, "number of agents to start in advance, for all users together")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  addJoinOptions(app, options.join);
  if (const std::optional<int> done = parseCommand(app, arguments)) return *done;
  return serve(options);
}

}  // namespace pop::agent
