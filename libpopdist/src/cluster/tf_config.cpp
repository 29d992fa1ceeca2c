// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/src/cluster/tf_config.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/json_reader.h"
#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "libpopdist/src/cluster/endpoint.h"

namespace popdist::cluster {

using pop::JsonValue;
using pop::Status;
using train::Cluster;
using train::TaskType;

namespace {

using Names = std::span<const std::string_view>;

// Beside what is read, what others write for themselves.
constexpr std::array<std::string_view, 5> kTopKeys{"cluster", "task", "environment", "rpc_layer", "job"};
constexpr std::array<std::string_view, 4> kTaskKeys{"type", "index", "cloud", "trial"};
constexpr std::array<std::string_view, 4> kJobs{"chief", "worker", "evaluator", "ps"};
constexpr std::array<std::string_view, 3> kTypes{"chief", "worker", "evaluator"};
constexpr const char* kNoServers =
    "parameter servers take no part in synchronous training: name chief and worker only";

Status wrong(const std::string& what) {
  return pop::invalidArgument("TF_CONFIG: " + what);
}

std::string listOf(Names names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i]);
  return text;
}

// A value for an error, on one line.
std::string shown(const JsonValue& value) {
  if (value.isNull()) return "null";
  if (value.boolean() != nullptr) return *value.boolean() ? "true" : "false";
  if (value.text() != nullptr) return pop::inQuotes(*value.text());
  if (value.array() != nullptr) return "a list";
  if (value.object() != nullptr) return "an object";
  return pop::numberText(value.number().value_or(0));
}

Status unexpectedKey(const std::string& path, const std::string& key, Names known) {
  const std::string_view meant = pop::similarWord(key, known);
  return wrong("unknown key " + pop::inQuotes(path + key) + "; expected " + listOf(known) +
               (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)"));
}

pop::Result<const JsonValue::Object*> objectAt(const JsonValue& parent, const std::string& key,
                                               const char* example) {
  const JsonValue* const value = parent.find(key);
  if (value == nullptr) return wrong("key '" + key + "' is missing; expected " + example);
  if (value->object() == nullptr) return wrong(key + " is " + shown(*value) + "; expected " + example);
  return value->object();
}

Status checkKeys(const JsonValue::Object& object, const std::string& path, Names known) {
  for (const auto& [key, value] : object) {
    if (std::find(known.begin(), known.end(), key) == known.end()) return unexpectedKey(path, key, known);
  }
  return {};
}

pop::Result<std::vector<std::string>> addressesOf(const JsonValue& cluster, const std::string& job) {
  std::vector<std::string> addresses;
  const JsonValue* const list = cluster.find(job);
  if (list == nullptr) return addresses;
  const std::string path = "cluster." + job;
  if (list->array() == nullptr) {
    return wrong(path + " is " + shown(*list) + R"(; expected a list of addresses, as ["host:3737"])");
  }
  for (const JsonValue& each : *list->array()) {
    const std::string at = path + '[' + std::to_string(addresses.size()) + "] is " + shown(each);
    if (each.text() == nullptr) return wrong(at + "; expected a text \"host:port\"");
    pop::Result<Endpoint> endpoint = parseEndpoint(*each.text());
    if (!endpoint.ok()) return wrong(at + ": " + endpoint.status().message());
    addresses.push_back(*each.text());
  }
  return addresses;
}

// Remembers where each address is, whatever its spelling.
class Addresses {
 public:
  Status add(const std::string& address, const std::string& name) {
    POP_ASSIGN_OR_RETURN(const Endpoint endpoint, parseEndpoint(address));
    const auto [other, is_new] = seen_.try_emplace({endpoint.host, endpoint.port}, name);
    if (is_new) return {};
    return pop::invalidArgument(other->second + " and " + name + " have the same address " +
                                pop::inQuotes(address) + "; expected another one for each");
  }

 private:
  std::map<std::pair<std::string, int>, std::string> seen_;
};

pop::Result<std::vector<std::string>> readCluster(const JsonValue& root, Cluster& cluster) {
  POP_ASSIGN_OR_RETURN(const JsonValue::Object* const jobs,
                       objectAt(root, "cluster", R"({"worker":["host:3737",…]})"));
  POP_RETURN_IF_ERROR(checkKeys(*jobs, "cluster.", kJobs));
  const JsonValue& value = *root.find("cluster");
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> servers, addressesOf(value, "ps"));
  if (!servers.empty())
    return wrong("cluster.ps has " + pop::counted(static_cast<std::int64_t>(servers.size()), "address") +
                 "; " + kNoServers);
  for (const char* const job : {"chief", "worker"}) {
    POP_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, addressesOf(value, job));
    if (job == kJobs[0]) {
      if (addresses.size() > 1)
        return wrong("cluster.chief has " + std::to_string(addresses.size()) + " addresses; expected one");
      cluster.has_chief = !addresses.empty();
    }
    cluster.workers.insert(cluster.workers.end(), addresses.begin(), addresses.end());
  }
  if (cluster.workers.empty())
    return wrong("cluster has no address; expected a list \"worker\", or a \"chief\", with one at least");
  POP_ASSIGN_OR_RETURN(std::vector<std::string> evaluators, addressesOf(value, "evaluator"));
  if (evaluators.size() > 1)
    return wrong("cluster.evaluator has " + std::to_string(evaluators.size()) + " addresses; expected one");
  return evaluators;
}

Status checkDifferent(const Cluster& cluster, const std::vector<std::string>& evaluators) {
  Addresses addresses;
  for (int i = 0; i < cluster.size(); ++i)
    POP_RETURN_IF_ERROR(addresses.add(cluster.workers[static_cast<std::size_t>(i)], cluster.taskOf(i)));
  for (const std::string& each : evaluators) POP_RETURN_IF_ERROR(addresses.add(each, "evaluator:0"));
  return {};
}

std::int64_t tasksOf(const Cluster& cluster, TaskType type) {
  const auto all = static_cast<std::int64_t>(cluster.workers.size());
  switch (type) {
    case TaskType::kChief:
      return cluster.has_chief ? 1 : 0;
    case TaskType::kWorker:
      return all - (cluster.has_chief ? 1 : 0);
    case TaskType::kEvaluator:
      return 1;  // whether the cluster names it or not
  }
  return 0;
}

// "0 to 3"
std::string rangeOf(std::int64_t tasks) {
  return tasks == 1 ? "0" : "0 to " + std::to_string(tasks - 1);
}

Status readTask(const JsonValue& root, Cluster& cluster) {
  POP_ASSIGN_OR_RETURN(const JsonValue::Object* const task,
                       objectAt(root, "task", R"({"type":"worker","index":0})"));
  POP_RETURN_IF_ERROR(checkKeys(*task, "task.", kTaskKeys));
  const JsonValue* const type = root.find("task")->find("type");
  if (type == nullptr) return wrong("key 'task.type' is missing; expected " + listOf(kTypes));
  const std::string name = type->text() == nullptr ? "" : *type->text();
  if (name == "ps") return wrong(std::string("task.type is 'ps'; ") + kNoServers);
  const auto known = std::find(kTypes.begin(), kTypes.end(), name);
  if (known == kTypes.end()) return wrong("task.type is " + shown(*type) + "; expected " + listOf(kTypes));
  cluster.type = static_cast<TaskType>(known - kTypes.begin());
  const std::int64_t tasks = tasksOf(cluster, cluster.type);
  if (tasks == 0)
    return wrong("task.type is '" + name + "', and cluster has no '" + name +
                 "'; expected a type that it has");
  const JsonValue* const index = root.find("task")->find("index");
  if (index == nullptr) return wrong("key 'task.index' is missing; expected " + rangeOf(tasks));
  std::optional<std::uint64_t> number = index->uint64();
  if (!number || *number >= static_cast<std::uint64_t>(tasks)) {
    return wrong("task.index is " + shown(*index) + " for type '" + name + "', of which there " +
                 (tasks == 1 ? "is 1" : "are " + std::to_string(tasks)) + "; expected " + rangeOf(tasks));
  }
  cluster.index = static_cast<int>(*number);
  return {};
}

}  // namespace

pop::Result<Cluster> parseTfConfig(std::string_view text) {
  pop::Result<JsonValue> root = pop::parseJson(text);
  if (!root.ok()) return wrong("it is no JSON: " + root.status().message());
  if (root->object() == nullptr)
    return wrong("it is " + shown(*root) + R"(; expected {"cluster":{…},"task":{…}})");
  POP_RETURN_IF_ERROR(checkKeys(*root->object(), "", kTopKeys));
  Cluster cluster;
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> evaluators, readCluster(*root, cluster));
  if (const Status different = checkDifferent(cluster, evaluators); !different.ok())
    return wrong("cluster: " + different.message());
  POP_RETURN_IF_ERROR(readTask(*root, cluster));
  return cluster;
}

Status checkCluster(const Cluster& cluster) {
  if (cluster.workers.empty() || cluster.isEvaluator()) return {};
  for (std::size_t i = 0; i < cluster.workers.size(); ++i) {
    pop::Result<Endpoint> endpoint = parseEndpoint(cluster.workers[i]);
    if (endpoint.ok()) continue;
    return pop::invalidArgument(cluster.taskOf(static_cast<int>(i)) + " has the address " +
                                pop::inQuotes(cluster.workers[i]) + ": " + endpoint.status().message());
  }
  POP_RETURN_IF_ERROR(checkDifferent(cluster, {}));
  const std::int64_t tasks = tasksOf(cluster, cluster.type);
  if (cluster.index >= 0 && cluster.index < tasks) return {};
  return pop::invalidArgument("this process is " + std::string(train::nameOf(cluster.type)) + ':' +
                              std::to_string(cluster.index) + " of a cluster that has " +
                              pop::counted(tasks, train::nameOf(cluster.type)));
}

}  // namespace popdist::cluster
