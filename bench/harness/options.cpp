// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/options.h"

#include <errno.h>

#include <CLI/CLI.hpp>

namespace pop::bench {
namespace {

void addMilliseconds(CLI::App& app, const std::string& name, const std::string& what, int least, int most,
                     std::chrono::milliseconds& time) {
  app.add_option_function<int>(
         name, [&time](int ms) { time = std::chrono::milliseconds(ms); }, what)
      ->check(CLI::Range(least, most));
}

}  // namespace

void addRunOptions(CLI::App& app, const std::vector<std::string>& contestants, RunOptions& options) {
  app.add_option("--only", options.only, "contestants, as in " + contestants[0] + ',' + contestants[1])
      ->delimiter(',')
      ->check(CLI::IsMember(contestants));
  addMilliseconds(app, "--quiet-timeout-ms", "how long a run waits for a quiet machine; 0: not at all", 0,
                  600'000, options.quiet_timeout);
  addMilliseconds(app, "--time-limit-ms", "a run that takes longer counts as hung", 100, 3'600'000,
                  options.time_limit);
}

void addQuick(CLI::App& app, RunOptions& options) {
  app.add_flag("--quick", options.quick, "smoke test: few and small runs, no peers, no quiet machine");
}

Status parse(CLI::App& app, int argc, const char* const* argv, RunOptions& options) {
  app.set_help_flag("--help", "print this and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return {};
  } catch (const CLI::ParseError& error) {
    return invalidArgument(std::string(error.what()) + " (" + app.get_name() + " --help lists the options)");
  }
  const CLI::Option* const timeout = app.get_option_no_throw("--quiet-timeout-ms");
  if (options.quick && timeout != nullptr && timeout->count() == 0) options.quiet_timeout = {};
  return {};
}

int failed(const Status& why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.message().c_str());
  return 1;
}

}  // namespace pop::bench
