// SPDX-License-Identifier: Apache-2.0
// The rules are those of popart::SessionOptions and of its transform HostReduce.
#include "libpopdist/train/popart/session_options.h"

#include <string>

#include "common/base/text.h"

namespace popdist::popart {
namespace {

struct Rule {
  bool is_broken;
  const char* text;
};

pop::Status checkPairs(const SessionOptions& options) {
  const bool reduces = options.host_all_reduce;
  const bool updates = reduces && options.host_weight_update;
  const bool remote = reduces && options.host_all_reduce_remote_buffer;
  const Rule rules[] = {
      {options.host_weight_update && !reduces,
       "host_weight_update is on and host_all_reduce is off: the host gets gradients only to reduce them; "
       "turn host_all_reduce on as well, or host_weight_update off"},
      {reduces && options.merge_var_update != MergeVarUpdate::kNone,
       "host_all_reduce is on, and merge_var_update is not kNone: the host reduces the gradient of each "
       "weight, and merged updates have one for all; set merge_var_update = kNone"},
      {updates && options.enable_pipelining,
       "host_weight_update and enable_pipelining are on: stages of a pipeline update on their IPUs; turn "
       "host_weight_update off"},
      {updates && options.enable_gradient_accumulation,
       "host_weight_update and enable_gradient_accumulation are on: the host would update after each "
       "micro-batch; turn host_weight_update off"},
      {updates && remote,
       "host_weight_update and host_all_reduce_remote_buffer are on: remote buffers carry gradients both "
       "ways, and no weights; turn one of them off"},
      {remote && options.enable_replicated_graphs,
       "host_all_reduce_remote_buffer and enable_replicated_graphs are on: the host would see the remote "
       "buffer of one replica only; turn host_all_reduce_remote_buffer off"},
  };
  for (const Rule& rule : rules) {
    if (rule.is_broken) return pop::invalidArgument(rule.text);
  }
  return {};
}

/// A number whose switch is off must be 1.
pop::Status checkCount(const char* name, int count, const char* name_of_switch, bool is_on) {
  if (count < 1)
    return pop::invalidArgument(std::string(name) + " is " + std::to_string(count) + ", expected 1 or more");
  if (count > 1 && !is_on)
    return pop::invalidArgument(std::string(name) + " is " + std::to_string(count) + ", and " +
                                name_of_switch + " is off");
  return {};
}

}  // namespace

pop::Status check(const SessionOptions& options, int replicas) {
  POP_RETURN_IF_ERROR(checkPairs(options));
  POP_RETURN_IF_ERROR(checkCount("accumulation_factor", options.accumulation_factor,
                                 "enable_gradient_accumulation", options.enable_gradient_accumulation));
  POP_RETURN_IF_ERROR(checkCount("replicated_graph_count", options.replicated_graph_count,
                                 "enable_replicated_graphs", options.enable_replicated_graphs));
  if (options.replicated_graph_count == replicas) return {};
  return pop::invalidArgument("replicated_graph_count is " + std::to_string(options.replicated_graph_count) +
                              ", and this instance has " + pop::counted(replicas, "replica") +
                              ": poprun's --num-replicas is the number of all instances together");
}

std::string textOf(const SessionOptions& options) {
  std::string text;
  const auto add = [&text](const char* name, int value) {
    text += (text.empty() ? "" : ", ") + std::string(name) + ' ' + std::to_string(value);
  };
  add("host_all_reduce", options.host_all_reduce ? 1 : 0);
  add("host_weight_update", options.host_weight_update ? 1 : 0);
  add("host_all_reduce_remote_buffer", options.host_all_reduce_remote_buffer ? 1 : 0);
  add("merge_var_update", static_cast<int>(options.merge_var_update));
  add("enable_pipelining", options.enable_pipelining ? 1 : 0);
  add("enable_gradient_accumulation", options.enable_gradient_accumulation ? 1 : 0);
  add("accumulation_factor", options.accumulation_factor);
  add("reduction", static_cast<int>(options.accumulation_and_replication_reduction));
  return text;
}

}  // namespace popdist::popart
