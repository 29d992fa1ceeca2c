// SPDX-License-Identifier: Apache-2.0
#include "poprun/session/hosts_session.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/sys/program.h"
#include "poprun/bootstrap/local_bootstrapper.h"
#include "poprun/session/hosts_controller.h"

namespace pop {

int runOnHosts(const Options&, const model::JobSpec& spec, const SessionSettings& settings) {
  return runSession(spec, settings, [&](os::AsioLoop& loop, OutputMux& mux) -> std::unique_ptr<Controller> {
    std::vector<BootstrapPart> parts(1);
    for (int host = 0; host < static_cast<int>(spec.hosts.size()); ++host) parts[0].hosts.push_back(host);
    parts[0].bootstrapper = std::make_unique<LocalBootstrapper>(
        loop, std::vector<std::string>{sys::ownProgram("popdist-agent"), "--stdio"},
        static_cast<int>(spec.hosts.size()));
    HostsSettings hosts{.whole_lines_out = settings.output.out.whole_lines,
                        .whole_lines_err = settings.output.err.whole_lines,
                        .say = [&mux](const std::string& line) { mux.say(line + '\n'); }};
    return std::make_unique<HostsController>(loop, mux, std::move(hosts), std::move(parts));
  });
}

}  // namespace pop
