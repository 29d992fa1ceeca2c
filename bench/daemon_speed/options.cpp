// SPDX-License-Identifier: Apache-2.0
#include "bench/daemon_speed/options.h"

#include <CLI/CLI.hpp>

namespace pop::bench {
namespace {

constexpr const char* kAbout = "Speed of popdistd beside Slurm";

void bind(CLI::App& app, DaemonOptions& options, bool& no_peers) {
  app.set_help_flag("--help", "print this and exit");
  app.add_option("--measure", options.measures, "what, as in submit,jobs")
      ->delimiter(',')
      ->check(CLI::IsMember(DaemonOptions().measures));
  app.add_option("--rounds", options.rounds, "rounds of each figure")->check(CLI::Range(1, 1000));
  app.add_option("--records", options.records, "ended jobs in the store of `jobs` and `idle`")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--etcd", options.etcd, "popdistd has its store there, HOST:PORT, instead of in a file");
  app.add_flag("--no-peers", no_peers, "without Slurm");
  app.add_flag("--quick", options.quick, "does it work? few calls of each, one round, without Slurm");
}

}  // namespace

Result<DaemonOptions> parseDaemonOptions(int argc, const char* const* argv) {
  CLI::App app(kAbout, "bench/daemon");
  DaemonOptions options;
  bool no_peers = false;
  bind(app, options, no_peers);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = true;
    return options;
  } catch (const CLI::ParseError& error) {
    return invalidArgument(std::string(error.what()) + " (bench/daemon --help lists the options)");
  }
  options.peers = !no_peers && !options.quick;
  if (options.quick) options.rounds = 1;
  return options;
}

std::string daemonHelp() {
  CLI::App app(kAbout, "bench/daemon");
  DaemonOptions options;
  bool no_peers = false;
  bind(app, options, no_peers);
  return app.help();
}

}  // namespace pop::bench
