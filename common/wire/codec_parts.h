// SPDX-License-Identifier: Apache-2.0
// Parts of several messages: variables, programs, bindings, the readers of stdin.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/text.h"
#include "common/contract/env_contract.h"
#include "common/model/binding.h"
#include "common/model/cpu_set.h"
#include "common/model/job_spec.h"
#include "common/model/topology.h"
#include "proto/popdist/v1/agent.pb.h"

namespace pop::wire {

namespace v1 = ::popdist::v1;

/// A message that no agent and no controller of this version sends.
inline Status malformed(const std::string& what) {
  return {Code::kInvalidArgument, "a malformed message: " + what};
}

/// The requested detail of a topology.
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

inline void encodeBinding(const model::Binding& binding, v1::Binding* into) {
  into->set_cpus(binding.cpus.text());
  into->set_memory_nodes(binding.memory_nodes.text());
  into->set_threads(binding.threads);
  into->set_reason(validUtf8(binding.reason));
}
inline Result<model::Binding> decodeBinding(const v1::Binding& from) {
  POP_ASSIGN_OR_RETURN(model::CpuSet cpus, decodeCpus(from.cpus()));
  POP_ASSIGN_OR_RETURN(model::CpuSet nodes, decodeCpus(from.memory_nodes()));
  if (from.threads() < 1) return malformed("a binding of " + std::to_string(from.threads()) + " threads");
  return model::Binding{.cpus = std::move(cpus),
                        .memory_nodes = std::move(nodes),
                        .threads = from.threads(),
                        .reason = from.reason()};
}

inline void encodeProgram(const model::Program& program, v1::Program* into) {
  for (const std::string& word : program.command) into->add_command(word);
  into->set_num_instances(program.num_instances);
  into->set_working_directory(program.working_directory);
  encodeVariables(program.environment, into->mutable_environment());
}
inline Result<model::Program> decodeProgram(const v1::Program& from) {
  if (from.command().empty() && from.words().empty()) return malformed("a program without a command");
  if (!from.command().empty() && !from.words().empty())
    return malformed("a program with both command and words: one of them says what it runs");
  std::vector<std::string> words(from.command().begin(), from.command().end());
  if (words.empty()) words.assign(from.words().begin(), from.words().end());
  return model::Program{.command = std::move(words),
                        .num_instances = from.has_num_instances() ? from.num_instances() : 1,
                        .working_directory = from.working_directory(),
                        .environment = decodeVariables(from.environment())};
}

inline v1::StdinReaders encodeReaders(model::StdinPolicy::Who who) {
  return static_cast<v1::StdinReaders>(who);
}
inline Result<model::StdinPolicy::Who> decodeReaders(v1::StdinReaders readers) {
  static_assert(v1::StdinReaders_MAX == static_cast<int>(model::StdinPolicy::Who::kOne));
  if (!v1::StdinReaders_IsValid(readers)) return malformed("readers of stdin: " + std::to_string(readers));
  return static_cast<model::StdinPolicy::Who>(readers);
}

}  // namespace pop::wire
