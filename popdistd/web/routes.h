// SPDX-License-Identifier: Apache-2.0
// The paths of the daemon's HTTP, and how the daemon's interfaces answer them.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "popdistd/api/pods_api.h"
#include "popdistd/web/http.h"

namespace pop::popdistd {

/// All on the loop's thread.
class Routes {
 public:
  /// `metrics`: the text of /metrics (metrics.h). `api` and `pods` outlive the object.
  Routes(Api& api, PodsApi& pods, std::function<std::string()> metrics);

  void handle(const std::shared_ptr<HttpExchange>& exchange);

 private:
  using Exchange = std::shared_ptr<HttpExchange>;
  using Method = std::function<void(const Exchange&, const std::string& json)>;

  template <typename Interface, typename Request, typename Answer>
  void add(Interface& interface, const char* name,
           void (Interface::*method)(const Caller&, Request, Reply<Answer>));
  void post(const Exchange& exchange, const std::string& name);
  void get(const Exchange& exchange, const std::string& path, const std::string& query);
  void watch(const Exchange& exchange, const std::string& query);
  void log(const Exchange& exchange, const std::string& job, const std::string& query);
  void list(const Exchange& exchange, const std::string& query);
  void listPartitions(const Exchange& exchange, const std::string& query);

  Api& api_;
  PodsApi& pods_;
  const std::function<std::string()> metrics_;
  std::map<std::string, Method> methods_;  ///< by their names in controller.proto and pods.proto
};

}  // namespace pop::popdistd
