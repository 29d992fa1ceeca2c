// SPDX-License-Identifier: Apache-2.0
// The agent service: takes Run calls of launchers, checks who may, starts the job's agent as the job's Unix
// user, and passes the call's messages on to it and back. What it knows of jobs is who runs how many.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "agent/service/admission.h"
#include "agent/service/spares.h"
#include "common/os/asio_loop.h"
#include "common/rpc/agent_call.h"
#include "common/rpc/agent_server.h"

namespace pop::agent {

struct ServiceSettings {
  std::string own_name;  ///< as the certificate of a launcher on this host without TLS; empty: TLS tells
  SparesSettings spares;
};

class Service {
 public:
  /// `loop` outlives the service. `agent`: this program's path, of which jobs' agents are made.
  Service(os::AsioLoop& loop, Admission admission, std::string agent, ServiceSettings settings);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void accept(std::shared_ptr<rpc::RunCall> call);
  void setUsers(UsersFile users) { admission_.setUsers(std::move(users)); }
  int numJobs() const { return admission_.numJobs(); }

 private:
  struct Job;
  using Jobs = std::list<std::unique_ptr<Job>>;

  void receive(Job& job, rpc::v1::Command command);
  void begin(Job& job, rpc::v1::Command hello);
  Status start(Job& job, rpc::v1::Command hello);
  void readErrors(Job& job);
  void end(Job& job, const Status& why);

  os::AsioLoop& loop_;
  Admission admission_;
  const std::string agent_;
  const ServiceSettings settings_;
  Spares spares_;
  Jobs jobs_;
};

}  // namespace pop::agent
