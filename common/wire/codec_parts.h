// SPDX-License-Identifier: Apache-2.0
// Helpers of the codec's files: variables, sets of CPUs, numbers that must fit.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/contract/env_contract.h"
#include "common/model/cpu_set.h"
#include "common/model/topology.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

/// A message that no agent and no controller of this version sends.
inline Status malformed(const std::string& what) {
  return {Code::kInvalidArgument, "a malformed message: " + what};
}

/// How much of a topology is asked for.
inline v1::TopologyDetail encodeDetail(model::TopologyDetail detail) {
  return static_cast<v1::TopologyDetail>(detail);
}
inline Result<model::TopologyDetail> decodeDetail(v1::TopologyDetail detail) {
  static_assert(v1::TopologyDetail_MAX == static_cast<int>(model::TopologyDetail::kCores));
  if (!v1::TopologyDetail_IsValid(detail))
    return malformed("unknown detail " + std::to_string(detail) + " of a topology");
  return static_cast<model::TopologyDetail>(detail);
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
