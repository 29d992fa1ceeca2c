// SPDX-License-Identifier: Apache-2.0
// The paths of the daemon's HTTP, and how the daemon's interfaces answer them; the page's own are page.h's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "popdistd/api/access_api.h"
#include "popdistd/api/pods_api.h"
#include "popdistd/web/http.h"
#include "popdistd/web/login.h"

namespace pop::popdistd {

/// All on the loop's thread.
class Routes {
 public:
  /// `metrics`: the text of /metrics, in Prometheus' form, with allocations or without. The interfaces
  /// outlive the object.
  Routes(Api& api, PodsApi& pods, std::function<std::string(bool)> metrics, AccessApi* access = nullptr,
         Sessions sessions = {});

  void handle(const std::shared_ptr<HttpExchange>& exchange);

 private:
  using Exchange = std::shared_ptr<HttpExchange>;
  using Method = std::function<void(const Exchange&, const std::string& json)>;

  template <typename Interface, typename Request, typename Answer>
  void add(Interface& interface, const char* name,
           void (Interface::*method)(const Caller&, Request, Reply<Answer>));
  void post(const Exchange& exchange, const std::string& name);
  /// The answer to a login, a logout or an unknown caller; nothing: the request is for others to answer.
  std::optional<HttpAnswer> answerNobody(const HttpRequest& request, const std::string& path) const;
  void get(const Exchange& exchange, const std::string& path, const std::string& query);
  void watch(const Exchange& exchange, const std::string& query);
  void log(const Exchange& exchange, const std::string& job, const std::string& query);
  void records(const Exchange& exchange, const std::string& job, const std::string& query);
  using PrintRecords = std::function<std::unique_ptr<ByteSource>(std::unique_ptr<Source<v1::Record>>)>;
  void streamRecords(const Exchange& exchange, const std::string& job, const std::string& query,
                     const std::string& content_type, const std::string& keep_alive,
                     const PrintRecords& print);
  void list(const Exchange& exchange, const std::string& query);
  void listPartitions(const Exchange& exchange, const std::string& query);
  /// The picture of a partition, which is looked for from this page of their list on.
  void drawPartition(const Exchange& exchange, const std::string& id, const std::string& page_token);

  Api& api_;
  PodsApi& pods_;
  const std::function<std::string(bool)> metrics_;
  const Sessions sessions_;
  std::map<std::string, Method> methods_;  ///< by their names in controller.proto and pods.proto
};

}  // namespace pop::popdistd
