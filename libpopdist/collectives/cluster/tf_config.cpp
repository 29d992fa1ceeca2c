// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/cluster/tf_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/json_reader.h"
#include "common/base/similar_word.h"
#include "common/base/text.h"
#include "libpopdist/collectives/cluster/endpoint.h"

namespace popdist::cluster {

using pop::JsonValue;
using pop::Status;
using train::Cluster;
using train::TaskType;

namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kJobs{"chief", "master", "worker", "evaluator", "ps"};
constexpr std::array<std::string_view, 3> kTypes{"chief", "worker", "evaluator"};
constexpr const char* kMaster = "master";  // the older name of the chief
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
  if (value == nullptr) {
    const std::array<std::string_view, 1> known{key};
    std::string there;
    for (const auto& [other, unused] : *parent.object())
      if (!pop::similarWord(other, known).empty()) there = " (there is " + pop::inQuotes(other) + ')';
    return wrong("key '" + key + "' is missing; expected " + example + there);
  }
  if (value->object() == nullptr) return wrong(key + " is " + shown(*value) + "; expected " + example);
  return value->object();
}

Status checkKeys(const JsonValue::Object& object, const std::string& path, Names known) {
  for (const auto& [key, value] : object) {
    if (std::find(known.begin(), known.end(), key) == known.end()) return unexpectedKey(path, key, known);
  }
  return {};
}

// {"0":"a:1","1":"b:1"} is ["a:1","b:1"]. With a gap, the processes would have different lists.
pop::Result<std::vector<const JsonValue*>> byIndex(const JsonValue::Object& tasks, const std::string& path) {
  std::vector<const JsonValue*> found(tasks.size(), nullptr);
  for (const auto& [key, value] : tasks) {
    pop::Result<std::int64_t> index = pop::parseInteger(key);
    if (!index.ok() || *index < 0)
      return wrong(path + " has the key " + pop::inQuotes(key) + "; expected the index of a task");
    if (static_cast<std::size_t>(*index) >= found.size()) continue;
    if (found[static_cast<std::size_t>(*index)] != nullptr)
      return wrong(path + " has the index " + std::to_string(*index) + " twice; expected it once");
    found[static_cast<std::size_t>(*index)] = &value;
  }
  const auto gap = std::find(found.begin(), found.end(), nullptr);
  if (gap == found.end()) return found;
  return wrong(path + " has " + pop::counted(static_cast<std::int64_t>(tasks.size()), "address") +
               " and none for index " + std::to_string(gap - found.begin()) +
               "; expected one for each index from 0 on");
}

pop::Result<std::vector<const JsonValue*>> tasksAt(const JsonValue& tasks, const std::string& path) {
  if (tasks.object() != nullptr) return byIndex(*tasks.object(), path);
  if (tasks.array() == nullptr) {
    return wrong(path + " is " + shown(tasks) + R"(; expected a list of addresses, as ["host:3737"])");
  }
  std::vector<const JsonValue*> found;
  for (const JsonValue& each : *tasks.array()) found.push_back(&each);
  return found;
}

pop::Result<std::vector<std::string>> addressesOf(const JsonValue& cluster, const std::string& job) {
  std::vector<std::string> addresses;
  const JsonValue* const value = cluster.find(job);
  if (value == nullptr) return addresses;
  const std::string path = "cluster." + job;
  POP_ASSIGN_OR_RETURN(const std::vector<const JsonValue*> tasks, tasksAt(*value, path));
  for (const JsonValue* const each : tasks) {
    const std::string at = path + '[' + std::to_string(addresses.size()) + "] is " + shown(*each);
    if (each->text() == nullptr) return wrong(at + "; expected a text \"host:port\"");
    pop::Result<Endpoint> endpoint = parseEndpoint(*each->text());
    if (!endpoint.ok()) return wrong(at + ": " + endpoint.status().message());
    addresses.push_back(*each->text());
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

// `value` is an object.
pop::Result<std::vector<std::string>> readCluster(const JsonValue& value, Cluster& cluster) {
  POP_RETURN_IF_ERROR(checkKeys(*value.object(), "cluster.", kJobs));
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> servers, addressesOf(value, "ps"));
  if (!servers.empty())
    return wrong("cluster.ps has " + pop::counted(static_cast<std::int64_t>(servers.size()), "address") +
                 "; " + kNoServers);
  for (const char* const job : {"chief", kMaster, "worker"}) {
    POP_ASSIGN_OR_RETURN(const std::vector<std::string> addresses, addressesOf(value, job));
    if (job != std::string_view("worker") && !addresses.empty()) {
      if (addresses.size() > 1)
        return wrong("cluster." + std::string(job) + " has " + std::to_string(addresses.size()) +
                     " addresses; expected one");
      if (cluster.has_chief) return wrong("cluster has a chief and a master; expected one of the two");
      cluster.has_chief = true;
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
      return 1;  // named by the cluster or not
  }
  return 0;
}

// "0 to 3"
std::string rangeOf(std::int64_t tasks) {
  return tasks == 1 ? "0" : "0 to " + std::to_string(tasks - 1);
}

// A number, or a text of one, as TensorFlow takes it.
std::optional<std::int64_t> wholeNumber(const JsonValue& value) {
  if (value.text() != nullptr) {
    std::string_view text = pop::trimmed(*value.text());
    if (text.starts_with('+')) text.remove_prefix(1);
    pop::Result<std::int64_t> number = pop::parseInteger(text);
    return number.ok() ? std::optional(*number) : std::nullopt;
  }
  const std::optional<double> number = value.number();
  if (!number || std::trunc(*number) != *number || std::abs(*number) > INT32_MAX) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

Status readIndex(const JsonValue& task, std::int64_t tasks, const std::string& type, Cluster& cluster) {
  const JsonValue* const index = task.find("index");
  if (index == nullptr) return wrong("key 'task.index' is missing; expected " + rangeOf(tasks));
  const std::optional<std::int64_t> number = wholeNumber(*index);
  if (!number)
    return wrong("task.index is " + shown(*index) + "; expected a whole number, " + rangeOf(tasks));
  if (*number < 0 || *number >= tasks) {
    return wrong("task.index is " + shown(*index) + " for type '" + type + "', of which there " +
                 (tasks == 1 ? "is 1" : "are " + std::to_string(tasks)) + "; expected " + rangeOf(tasks));
  }
  cluster.index = static_cast<int>(*number);
  return {};
}

Status readTask(const JsonValue& root, Cluster& cluster) {
  POP_RETURN_IF_ERROR(objectAt(root, "task", R"({"type":"worker","index":0})").status());
  const JsonValue& task = *root.find("task");
  const JsonValue* const type = task.find("type");
  if (type == nullptr) return wrong("key 'task.type' is missing; expected " + listOf(kTypes));
  const std::string name = type->text() == nullptr ? "" : *type->text();
  if (name == "ps") return wrong(std::string("task.type is 'ps'; ") + kNoServers);
  const auto known = std::find(kTypes.begin(), kTypes.end(), name == kMaster ? "chief" : name);
  if (known == kTypes.end()) return wrong("task.type is " + shown(*type) + "; expected " + listOf(kTypes));
  cluster.type = static_cast<TaskType>(known - kTypes.begin());
  const std::int64_t tasks = tasksOf(cluster, cluster.type);
  if (tasks == 0)
    return wrong("task.type is '" + name + "', and cluster has no '" + name +
                 "'; expected a type that it has");
  return readIndex(task, tasks, name, cluster);
}

// TensorFlow takes a cluster without jobs as this process alone: the first of one, not the evaluator of
// others.
bool saysAlone(const JsonValue& root) {
  const JsonValue* const cluster = root.find("cluster");
  const JsonValue* const task = root.find("task");
  if (cluster == nullptr) {
    constexpr std::array<std::string_view, 2> kRead{"cluster", "task"};
    return task == nullptr &&
           std::none_of(root.object()->begin(), root.object()->end(),
                        [&](const auto& member) { return !pop::similarWord(member.first, kRead).empty(); });
  }
  if (cluster->object() == nullptr || !cluster->object()->empty()) return false;
  const JsonValue* const type = task == nullptr ? nullptr : task->find("type");
  const JsonValue* const index = task == nullptr ? nullptr : task->find("index");
  const bool is_evaluator = type != nullptr && type->text() != nullptr && *type->text() == "evaluator";
  return !is_evaluator && (index == nullptr || wholeNumber(*index) == 0);
}

}  // namespace

pop::Result<Cluster> parseTfConfig(std::string_view text) {
  pop::Result<JsonValue> root = pop::parseJson(text);
  if (!root.ok()) return wrong("it is no JSON: " + root.status().message());
  if (root->object() == nullptr)
    return wrong("it is " + shown(*root) + R"(; expected {"cluster":{…},"task":{…}})");
  Cluster cluster;
  if (saysAlone(*root)) return cluster;
  POP_RETURN_IF_ERROR(objectAt(*root, "cluster", R"({"worker":["host:3737",…]})").status());
  POP_ASSIGN_OR_RETURN(const std::vector<std::string> evaluators,
                       readCluster(*root->find("cluster"), cluster));
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
