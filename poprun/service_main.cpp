// SPDX-License-Identifier: Apache-2.0
// poprun-service: poprun-hosts for jobs that reach hosts through the agent service. It lacks SSH, whose
// libraries take longer to load than everything else.
#include "poprun/app.h"
#include "poprun/command/doctor.h"
#include "poprun/command/hosts_session.h"

int main(int argc, char** argv) {
  using pop::model::JobSpec;
  const pop::HostsHalf hosts{
      .program = pop::Program::kService,
      .run =
          [](const pop::Options& options, const JobSpec& spec, const pop::SessionSettings& settings) {
            return pop::runOnHosts(options, spec, settings, nullptr);
          },
      .examine = [](const pop::Options& options,
                    const JobSpec& spec) { return pop::runDoctor(options, spec, nullptr); }};
  return pop::runApp(argc, argv, &hosts);
}
