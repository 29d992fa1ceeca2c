// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/forwarded_environment.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "common/base/text.h"
#include "common/contract/env_frameworks.h"

namespace pop {
namespace {

using Names = std::set<std::string, std::less<>>;

// Variables of the account, login session or shell that started poprun on this host.
constexpr std::array<std::string_view, 20> kOfThisSession{"DBUS_SESSION_BUS_ADDRESS",
                                                          "DISPLAY",
                                                          "HOME",
                                                          "HOSTNAME",
                                                          "LOGNAME",
                                                          "MAIL",
                                                          "OLDPWD",
                                                          "PWD",
                                                          "SHELL",
                                                          "SHLVL",
                                                          "STY",
                                                          "TERM",
                                                          "TERMCAP",
                                                          "TMUX",
                                                          "TMUX_PANE",
                                                          "USER",
                                                          "WINDOWID",
                                                          "WAYLAND_DISPLAY",
                                                          "XAUTHORITY",
                                                          "_"};

bool isOfThisSession(std::string_view name) {
  return name.starts_with("SSH_") || name.starts_with("XDG_") ||
         std::find(kOfThisSession.begin(), kOfThisSession.end(), name) != kOfThisSession.end();
}

// Every variable that poprun sets for an instance.
Names setByPoprun() {
  const contract::Rendezvous rendezvous{.tf_cluster = "{}",
                                        .master_address = "-",
                                        .master_port = "0",
                                        .jax_port = "0",
                                        .horovod_port = "0",
                                        .pmix_port = "0"};
  const Result<std::vector<contract::Variable>> variables =
      contract::renderEnvironment({.env = {},
                                   // Values that depend on the number of hosts stand in for the user's own.
                                   .place = {.num_hosts = 0},
                                   .rendezvous = rendezvous,
                                   .poplar = {.partition = "-"},
                                   .families = contract::allEnvFamilies(),
                                   .job = {},
                                   .program = {}});
  Names names;
  for (const contract::Variable& variable : variables.value()) names.insert(variable.first);
  return names;
}

// True for settings of libpopdist, and of Open MPI, whose mpirun passes them on too.
bool isSetting(std::string_view name) {
  return name.starts_with("POPDIST_") || name.starts_with("OMPI_MCA_");
}

// Tells if a pattern for many variables may forward a variable.
class Forwardable {
 public:
  bool operator()(const std::string& name) const {
    return !set_by_poprun_.contains(name) && !isOfThisSession(name);
  }

 private:
  Names set_by_poprun_ = setByPoprun();
};

}  // namespace

bool isPattern(std::string_view name) {
  return name.find_first_of("*?") != std::string_view::npos;
}

std::vector<contract::Variable> matchingEnvironment(const std::vector<contract::Variable>& own,
                                                    std::string_view pattern) {
  const Forwardable may;
  std::vector<contract::Variable> matching;
  for (const contract::Variable& variable : own) {
    if (matchesWildcards(variable.first, pattern) && may(variable.first)) matching.push_back(variable);
  }
  std::sort(matching.begin(), matching.end());
  return matching;
}

std::vector<contract::Variable> forwardedEnvironment(const std::vector<contract::Variable>& own, bool all) {
  static const Names kAlways{"IPUOF_LOG_LEVEL",       "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "PATH",
                             "POPLAR_TARGET_OPTIONS", "PYTHONPATH"};
  const Forwardable may;
  std::vector<contract::Variable> forwarded;
  for (const contract::Variable& variable : own) {
    const std::string& name = variable.first;
    if (kAlways.contains(name) || (may(name) && (all || isSetting(name)))) forwarded.push_back(variable);
  }
  std::sort(forwarded.begin(), forwarded.end());
  return forwarded;
}

}  // namespace pop
