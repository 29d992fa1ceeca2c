// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "bench/daemon_speed/measures.h"

namespace pop::bench {

Result<DaemonOptions> parseDaemonOptions(int argc, const char* const* argv) {
  CLI::App app("Speed of popdistd beside Slurm", "bench/daemon");
  DaemonOptions options;
  app.add_option("--measure", options.measures, "what, as in submit,jobs")
      ->delimiter(',')
      ->check(CLI::IsMember(DaemonOptions().measures));
  app.add_option("--rounds", options.rounds, "rounds of each figure")->check(CLI::Range(1, 1000));
  app.add_option("--records", options.records, "ended jobs in the store of `jobs` and `idle`")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--etcd", options.etcd, "popdistd has its store there, HOST:PORT, instead of in a file");
  app.add_flag("--no-peers", options.no_peers, "without Slurm");
  addQuick(app, options);
  POP_RETURN_IF_ERROR(parse(app, argc, argv, options));
  if (options.quick) {
    options.no_peers = true;
    options.rounds = 1;
  }
  return options;
}

}  // namespace pop::bench
