// SPDX-License-Identifier: Apache-2.0
// Runs a question in a forked process with an environment of its own: popdist reads the environment once.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

#include "common/sys/fd.h"
#include "popdist/error.hpp"

namespace popdist {

using Variables = std::map<std::string, std::string>;

inline void setEnvironment(const Variables& variables) {
  for (char** variable = environ; *variable != nullptr;) {
    const std::string name = std::string(*variable).substr(0, std::string(*variable).find('='));
    if (name.rfind("POPDIST_", 0) == 0) {
      ::unsetenv(name.c_str());
    } else {
      ++variable;
    }
  }
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
}

/// What `question` answers in a process whose only POPDIST_ variables are `variables`. A popdist_error
/// becomes "error CODE: what".
template <typename Question>
std::string inFreshProcess(const Variables& variables, const Question& question) {
  pop::sys::Pipe pipe = pop::sys::makePipe().value();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    std::string answer;
    try {
      setEnvironment(variables);
      answer = question();
    } catch (const popdist_error& error) {
      answer = "error " + std::to_string(static_cast<int>(error.code())) + ": " + error.what();
    }
    const bool written =
        ::write(pipe.write_end.get(), answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    ::_exit(written ? 0 : 1);
  }
  pipe.write_end.reset();
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(pipe.read_end.get(), buffer.data(), buffer.size())) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? answer : answer + " (process ended with status " + std::to_string(status) + ')';
}

/// The variables that PopRun itself sets, for `instances` with `local_replicas` each.
inline Variables poprunVariables(int instances, int local_replicas, int ipus_per_replica, int instance) {
  return {{"POPDIST_NUM_TOTAL_REPLICAS", std::to_string(instances * local_replicas)},
          {"POPDIST_NUM_IPUS_PER_REPLICA", std::to_string(ipus_per_replica)},
          {"POPDIST_NUM_LOCAL_REPLICAS", std::to_string(local_replicas)},
          {"POPDIST_UNIFORM_REPLICAS_PER_INSTANCE", "1"},
          {"POPDIST_REPLICA_INDEX_OFFSET", std::to_string(instance * local_replicas)},
          {"POPDIST_LOCAL_INSTANCE_INDEX", std::to_string(instance)}};
}

}  // namespace popdist
