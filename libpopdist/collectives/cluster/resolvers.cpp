// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "common/base/json.h"
#include "libpopdist/collectives/cluster/endpoint.h"
#include "libpopdist/collectives/cluster/tf_config.h"
#include "libpopdist/collectives/context/environment.h"
#include "libpopdist/collectives/context/launcher.h"
#include "libpopdist/collectives/context/link.h"
#include "popdist/cluster_resolver.hpp"
#include "popdist/error.hpp"
#include "popdist/popdist.hpp"

namespace popdist::train {
namespace {

using context::throwIfFailed;

constexpr const char* kVariable = "TF_CONFIG";

// A variable without a value is as good as none.
std::optional<std::string> tfConfig() {
  const char* const text = std::getenv(kVariable);
  return text == nullptr || *text == '\0' ? std::nullopt : std::optional<std::string>(text);
}

[[noreturn]] void refuse(const char* operation, const std::string& why) {
  throw popdist_error(ErrorCode::kFailedPrecondition, std::string(operation) + ": " + why,
                      {.rank = -1, .peer = -1, .operation = operation});
}

// This process's cluster in poprun's TF_CONFIG; nothing if it has none, or the user's own, of other
// instances.
std::optional<Cluster> namedByPoprun(int instance, int instances) {
  const std::optional<std::string> text = tfConfig();
  if (!text) return std::nullopt;
  pop::Result<Cluster> cluster = cluster::parseTfConfig(*text);
  if (!cluster.ok()) return std::nullopt;
  const bool is_last = instance == instances - 1;
  if (cluster->isEvaluator())
    return is_last && cluster->size() < instances ? *cluster : std::optional<Cluster>();
  return cluster->instanceIndex() == instance && cluster->size() <= instances ? *cluster
                                                                              : std::optional<Cluster>();
}

bool startedByPoprun() {
  return isPopdistEnvSet();
}

}  // namespace

const char* nameOf(TaskType type) {
  switch (type) {
    case TaskType::kChief:
      return "chief";
    case TaskType::kWorker:
      return "worker";
    case TaskType::kEvaluator:
      return "evaluator";
  }
  return "task";
}

int Cluster::instanceIndex() const {
  if (isEvaluator()) return -1;
  return type == TaskType::kWorker && has_chief ? index + 1 : index;
}

std::string Cluster::taskOf(int instance) const {
  if (!has_chief) return "worker:" + std::to_string(instance);
  return instance == 0 ? "chief:0" : "worker:" + std::to_string(instance - 1);
}

Cluster TfConfigResolver::resolve() const {
  const std::optional<std::string> text = tfConfig();
  if (!text) {
    refuse(
        "TfConfigResolver",
        R"(TF_CONFIG is not set; expected {"cluster":{"worker":["host:3737",…]},"task":{"type":"worker","index":0}})");
  }
  pop::Result<Cluster> cluster = cluster::parseTfConfig(*text);
  throwIfFailed({cluster.status()}, "TfConfigResolver");
  return std::move(*cluster);
}

Cluster SimpleResolver::resolve() const {
  Cluster cluster;
  cluster.workers = workers_;
  cluster.index = index_;
  if (workers_.empty())
    throwIfFailed({pop::invalidArgument("the list of workers is empty")}, "SimpleResolver");
  throwIfFailed({cluster::checkCluster(cluster)}, "SimpleResolver");
  return cluster;
}

Cluster PoprunResolver::resolve() const {
  if (!startedByPoprun())
    refuse("PoprunResolver", "poprun has not started this process; start it with poprun, or set TF_CONFIG");
  const int instances = getNumInstances();
  const int instance = getInstanceIndex();
  Cluster cluster = namedByPoprun(instance, instances).value_or(Cluster{});
  if (cluster.workers.empty()) {
    cluster.workers.resize(static_cast<std::size_t>(instances));
    cluster.index = instance;
  }
  cluster.from_poprun = true;
  return cluster;
}

std::string setTfConfig(int worker_index, int num_workers, int base_port) {
  const auto wrong = [](const std::string& why) {
    throwIfFailed({pop::invalidArgument(why)}, "setTfConfig");
  };
  if (worker_index < 0 || worker_index >= num_workers) {
    wrong("worker_index is " + std::to_string(worker_index) + " and num_workers " +
          std::to_string(num_workers) + "; expected an index from 0 to one below the number");
  }
  if (base_port < 1 || base_port > 65535 - (num_workers - 1)) {
    wrong("the ports from base_port " + std::to_string(base_port) + " on, one for each of " +
          std::to_string(num_workers) + " workers, are not all from 1 to 65535");
  }
  std::string list;
  for (int i = 0; i < num_workers; ++i)
    list += (i == 0 ? "" : ",") + pop::jsonQuoted("localhost:" + std::to_string(base_port + i));
  const std::string text =
      pop::JsonObject()
          .json("cluster", pop::JsonObject().json("worker", '[' + list + ']').str())
          .json("task", pop::JsonObject().text("type", "worker").number("index", worker_index).str())
          .str();
  ::setenv(kVariable, text.c_str(), 1);
  return text;
}

Cluster resolveCluster(const ClusterResolver* given) {
  constexpr const char* kOperation = "resolveCluster";
  if (startedByPoprun()) {
    if (given != nullptr && dynamic_cast<const PoprunResolver*>(given) == nullptr) {
      refuse(
          kOperation,
          "poprun started this process and says who is in the cluster, and there is a resolver: use one of "
          "the two");
    }
    return given != nullptr ? given->resolve() : PoprunResolver().resolve();
  }
  if (given != nullptr) {
    if (tfConfig() && dynamic_cast<const TfConfigResolver*>(given) == nullptr)
      refuse(kOperation, "there is a resolver, and TF_CONFIG is set: use one of the two");
    return given->resolve();
  }
  Cluster cluster = tfConfig() ? TfConfigResolver().resolve() : Cluster{};
  if (cluster.workers.empty()) throwIfFailed({context::checkStartedAlone()}, kOperation);
  return cluster;
}

}  // namespace popdist::train
