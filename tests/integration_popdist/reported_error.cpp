// SPDX-License-Identifier: Apache-2.0
#include "tests/integration_popdist/reported_error.h"

#include <cstdio>
#include <cstdlib>

namespace pop::testing {

PoprunSetup childSetup(int instances, const std::vector<std::string>& command) {
  PoprunSetup setup{.options = {"--num-instances", std::to_string(instances), "--tag-output", "yes",
                                "--kill-grace", kGraceToReport, POPDIST_CHILD_PATH}};
  setup.options.insert(setup.options.end(), command.begin(), command.end());
  return setup;
}

Milliseconds timeToHearOfADeath() {
  return Milliseconds(std::getenv("POPDIST_KILL_ROUNDS") == nullptr ? 5000 : 1000);
}

std::map<int, ReportedError> reportedErrors(const std::string& out) {
  std::map<int, ReportedError> errors;
  for (const std::string& line : linesOf(out.substr(0, out.rfind('\n') + 1))) {
    int instance = -1;
    ReportedError error;
    long long nanoseconds = 0;
    int text = 0;
    if (std::sscanf(line.c_str(), "[%d] error %d peer %d at %lld: %n", &instance, &error.code, &error.peer,
                    &nanoseconds, &text) != 4) {
      continue;
    }
    error.at = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
    error.what = line.substr(static_cast<std::size_t>(text));
    errors[instance] = error;
  }
  return errors;
}

}  // namespace pop::testing
