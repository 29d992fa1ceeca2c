// SPDX-License-Identifier: Apache-2.0
// Helpers of the codec's files: variables, sets of CPUs, numbers that must fit.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/env_contract.h"
#include "common/model/cpu_set.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

/// A message that no agent and no controller of this version sends.
inline Status malformed(const std::string& what) {
  return {Code::kInvalidArgument, "a malformed message: " + what};
}

template <typename Repeated>
void encodeVariables(const std::vector<contract::Variable>& variables, Repeated* into) {
  for (const auto& [name, value] : variables) {
    v1::Variable* const variable = into->Add();
    variable->set_name(name);
    variable->set_value(value);
  }
}

template <typename Repeated>
std::vector<contract::Variable> decodeVariables(const Repeated& from) {
  std::vector<contract::Variable> variables;
  for (const v1::Variable& variable : from) variables.emplace_back(variable.name(), variable.value());
  return variables;
}

inline Result<model::CpuSet> decodeCpus(const std::string& text) {
  if (text.empty()) return model::CpuSet();
  return model::CpuSet::parse(text);
}

}  // namespace pop::wire
