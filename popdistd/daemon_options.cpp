// SPDX-License-Identifier: Apache-2.0
#include "popdistd/daemon_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "common/base/text.h"
#include "common/contract/version.h"
#include "common/sys/host_name.h"
#include "common/tls/certificates.h"

namespace pop::popdistd {
namespace {

constexpr int kMostSlots = 100'000;  // a host that says more is refused
constexpr double kMaxBackfillAgeSeconds = 365.0 * 24 * 3600;

int complain(const std::string& mistake) {
  std::fprintf(stderr, "popdistd: %s (see popdistd --help)\n", mistake.c_str());
  return 2;
}

// A directory that systemd has made for the unit; empty if it has made none, or several.
std::string unitDirectory(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string directory = value == nullptr ? "" : value;
  return directory.starts_with('/') && directory.find(':') == std::string::npos ? directory : "";
}

std::string defaultState(const char* name) {
  // A system user has no home.
  if (const std::string state = unitDirectory("STATE_DIRECTORY"); !state.empty()) return state;
  if (::geteuid() == 0) return std::string("/var/lib/") + name;
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return std::string(state) + '/' + name;
  const char* const home = std::getenv("HOME");
  return home == nullptr ? "" : std::string(home) + "/.local/state/" + name;
}

// systemd makes a directory that all users can see.
std::string defaultSocket(const std::string& state) {
  const std::string runtime = unitDirectory("RUNTIME_DIRECTORY");
  return (runtime.empty() ? state : runtime) + "/popdistd.sock";
}

struct Words {
  std::string etcd;
  std::string listen = "127.0.0.1:8090";
  std::string http = "127.0.0.1:8091";
  std::string socket;
  std::string usual_role = "submit";
  std::string log_level = "info";
  double backfill_age_s = 600;
};

void addEtcdOptions(CLI::App& app, Words& words, EtcdOptions& options) {
  CLI::Option* const etcd =
      app.add_option(
             "--etcd", words.etcd,
             "for several popdistds with one store: where etcd serves; one of them leads, the others pass "
             "clients on to it")
          ->type_name("HOST:PORT[,...]");
  app.add_option("--etcd-tls", options.tls_directory,
                 "directory with ca.pem and this host's certificate and key, for etcd")
      ->type_name("DIR")
      ->needs(etcd);
  app.add_option("--etcd-prefix", options.prefix, "prefix of this cluster's keys in etcd")
      ->type_name("PREFIX")
      ->capture_default_str()
      ->needs(etcd);
  app.add_option("--peer-address", options.peer_host,
                 "address at which the other popdistds reach this one; default: that of --advertise")
      ->type_name("HOST")
      ->needs(etcd);
}

void addOptions(CLI::App& app, Words& words, DaemonOptions& options) {
  app.add_option("--listen", words.listen, "for gRPC: clients and hosts")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  app.add_option("--advertise", options.advertised_host,
                 "by which jobs on other hosts reach it: what they are told as V-IPU server; "
                 "default: this host's name")
      ->type_name("HOST");
  app.add_option("--http", words.http, "for HTTP: JSON, events, metrics; none turns it off")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  app.add_option("--tls", options.tls_directory,
                 "directory with ca.pem and this host's certificate and key, made by popdist-agent init-tls")
      ->type_name("DIR");
  app.add_option("--state", options.state_directory,
                 "directory of popdistd's state; default: $STATE_DIRECTORY, else "
                 "as root /var/lib/popdistd, else popdistd in $XDG_STATE_HOME or ~/.local/state")
      ->type_name("DIR");
  app.add_option("--socket", words.socket,
                 "for users of this machine, who need no certificate there: popdistd.sock in "
                 "$RUNTIME_DIRECTORY, else in the directory of --state; none turns it off")
      ->type_name("PATH");
  app.add_option("--admin", options.admins,
                 "a user who may do everything, as popdistd's own may; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option(
         "--usual-role", words.usual_role,
         "role of users that none is stored for: none shuts them out, until popctl create user --role")
      ->type_name("ROLE")
      ->check(CLI::IsMember({"none", "viewer", "submit"}))
      ->capture_default_str();
  app.add_option("--keep-days", options.keep_days, "forget jobs so long after their end; 0: never")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--keep-jobs", options.keep_jobs, "forget the oldest of more jobs that have ended; 0: never")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--most-slots", options.most_slots,
                 "most slots of one host; of a host with more, N count; 0: no limit")
      ->type_name("N")
      ->check(CLI::Range(0, kMostSlots))
      ->capture_default_str();
  addEtcdOptions(app, words, options.etcd);
  app.add_flag("--fair-share", options.fair_share,
               "jobs of users who have used little of late start first; the last week counts most");
  app.add_option("--backfill-age", words.backfill_age_s,
                 "a job that has waited so long, and for an unknown time, is not overtaken any more by jobs "
                 "that need the same hosts or IPUs; 0: never is one")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, kMaxBackfillAgeSeconds))
      ->capture_default_str();
  app.add_flag(
      "--dev", options.dev,
      "for one machine: makes certificates and starts an agent service of its own; says how to use it");
  app.add_flag(
      "--insecure", options.insecure,
      "allows root to serve without TLS: every user of this host can then run jobs as root; and etcd "
      "elsewhere without TLS: anybody who reaches it can, too");
  app.add_option("--log-level", words.log_level, "amount of messages on stderr")
      ->check(CLI::IsMember({"warning", "info", "debug"}))
      ->type_name("")
      ->capture_default_str();
  app.set_version_flag("--version", std::string("popdistd ") + contract::kVersion);
}

Status checkNames(const DaemonOptions& options) {
  for (const std::string& admin : options.admins)
    if (const Status named = tls::checkUserName(admin); !named.ok())
      return invalidArgument("--admin: " + named.message());
  if (options.advertised_host.empty()) return {};
  const Status named = tls::checkHostName(options.advertised_host);
  return named.ok() ? named : invalidArgument("--advertise: " + named.message());
}

Status readWords(const Words& words, DaemonOptions& options) {
  if (std::isnan(words.backfill_age_s)) return invalidArgument("--backfill-age is not a number of seconds");
  POP_RETURN_IF_ERROR(checkNames(options));
  options.backfill_age = std::chrono::seconds(static_cast<std::int64_t>(words.backfill_age_s));
  POP_ASSIGN_OR_RETURN(options.listen, os::parsePlace("--listen", words.listen));
  options.usual_role = words.usual_role == "none"     ? v1::ROLE_NONE
                       : words.usual_role == "viewer" ? v1::ROLE_VIEWER
                                                      : v1::ROLE_SUBMIT;
  options.log_level = words.log_level == "warning" ? log::Level::kWarning
                      : words.log_level == "debug" ? log::Level::kDebug
                                                   : log::Level::kInfo;
  options.http.reset();
  if (words.http == "none") return {};
  POP_ASSIGN_OR_RETURN(options.http, os::parsePlace("--http", words.http));
  return {};
}

// Reads --etcd, and checks the other options against it.
Status readEtcd(const Words& words, DaemonOptions& options) {
  EtcdOptions& etcd = options.etcd;
  if (etcd.peer_host.empty()) etcd.peer_host = options.advertised_host;
  if (words.etcd.empty()) return {};
  for (const std::string& address : split(words.etcd, ',')) {
    if (!os::parsePlace("--etcd", address).ok() || address.find("//") != std::string::npos)
      return invalidArgument("--etcd: " + inQuotes(address) +
                             " is not HOST:PORT, such as head1:2379 (TLS is by --etcd-tls)");
    etcd.addresses.push_back(address);
  }
  while (etcd.prefix.ends_with('/')) etcd.prefix.pop_back();
  if (!etcd.prefix.starts_with('/'))
    return invalidArgument("--etcd-prefix: a prefix begins with a slash, and has more than that: /popdist");
  if (options.dev) return invalidArgument("--dev is for one machine: leave --etcd out");
  if (options.listen.port == 0 || (options.http && options.http->port == 0))
    return invalidArgument("with --etcd the others must know the ports of --listen and --http: name them");
  return {};
}

}  // namespace

std::variant<DaemonOptions, int> parseDaemonOptions(const std::vector<std::string>& arguments) {
  DaemonOptions options;
  Words words;
  CLI::App app("Keeps jobs, starts them on hosts that have joined, and tells what happens.", "popdistd");
  addOptions(app, words, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants it so
  } catch (const CLI::CallForHelp&) {
    return std::fputs(app.help().c_str(), stdout) < 0 ? 1 : 0;
  } catch (const CLI::CallForVersion&) {
    return std::printf("popdistd %s\n", contract::kVersion) < 0 ? 1 : 0;
  } catch (const CLI::Error& error) {
    return complain(error.what());
  }
  if (const Status read = readWords(words, options); !read.ok()) return complain(read.message());
  if (options.dev && !options.tls_directory.empty())
    return complain("--dev makes its own certificates: leave --tls out");
  if (options.advertised_host.empty()) options.advertised_host = options.dev ? "localhost" : sys::hostName();
  if (const Status read = readEtcd(words, options); !read.ok()) return complain(read.message());
  if (options.state_directory.empty())
    options.state_directory = defaultState(options.dev ? "popdistd-dev" : "popdistd");
  if (options.state_directory.empty())
    return complain("neither --state nor HOME says where to keep its state");
  options.state_directory = std::filesystem::absolute(options.state_directory);
  options.socket = words.socket.empty() ? defaultSocket(options.state_directory) : words.socket;
  options.socket_named = !words.socket.empty();
  if (options.socket == "none") options.socket.clear();
  return options;
}

}  // namespace pop::popdistd
