// SPDX-License-Identifier: Apache-2.0
// The options of popdist-agent serve with which a host joins a cluster.
#pragma once

#include <string>

#include "agent/cluster/joined_host.h"

namespace CLI {
class App;
}

namespace pop::agent {

struct JoinOptions {
  std::string controller;  ///< empty: it joins none
  std::string name;        ///< of this host; empty: `uname -n`
  int slots = 0;           ///< 0: as many as it has cores
  std::string state;       ///< empty: defaultState()
  std::string runner;      ///< the path of popdist-runner; empty: beside this program
};

/// The host's name in its cluster.
std::string ownNameIn(const JoinOptions& options);

void addJoinOptions(CLI::App& app, JoinOptions& options);

/// Returns what is wrong with them. `has_tls`: --tls is given.
Status checkJoinOptions(const JoinOptions& options, bool has_tls);

/// `self`: the user that the service runs as. `agent_port`: where it listens.
Result<JoinSettings> joinSettings(const JoinOptions& options, const std::string& tls_directory,
                                  const UnixUser& self, int agent_port);

}  // namespace pop::agent
