// SPDX-License-Identifier: Apache-2.0
// A server with a real socket for the instances 0 to 2 of a job of 4, and a controller that only listens.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/rendezvous/instance_server.h"
#include "tests/testing/instance_client.h"

namespace pop::agent {

class InstanceServerTest : public ::testing::Test {
 protected:
  using Client = testing::InstanceClient;
  using Message = contract::InstanceMessage;

  InstanceServerTest() { open(4); }

  /// Three instances here; the job's others are elsewhere.
  void open(int num_instances) {
    static int jobs = 0;
    job_id = "test-" + std::to_string(::getpid()) + '-' + std::to_string(++jobs);
    JobSlice slice{.job_id = job_id, .num_instances = num_instances};
    for (int instance = 0; instance < 3; ++instance) {
      slice.instances.push_back(
          {.env = {.num_instances = num_instances, .instance_index = instance, .num_local_instances = 3}});
    }
    socket = server->open(slice).value();
  }

  /// A client that has said nothing yet.
  Client unauthenticated() { return {loop, socket}; }

  /// A client that has been welcomed.
  std::unique_ptr<Client> instance(int index) {
    auto client = std::make_unique<Client>(loop, socket);
    EXPECT_TRUE(client->hello(index, job_id));
    return client;
  }
  std::vector<std::unique_ptr<Client>> allInstances() {
    std::vector<std::unique_ptr<Client>> clients;
    for (int index = 0; index < 3; ++index) clients.push_back(instance(index));
    return clients;
  }

  os::EpollLoop loop;
  std::string job_id;
  std::string socket;
  std::vector<PutValues> fences;   ///< reported as reached
  std::function<void()> on_fence;  ///< from within the report
  std::vector<std::tuple<int, int, std::string>> aborts;
  std::unique_ptr<InstanceServer> server = std::make_unique<InstanceServer>(
      loop, InstanceServer::Events{.fence_reached =
                                       [this](PutValues values) {
                                         fences.push_back(std::move(values));
                                         if (on_fence) on_fence();
                                       },
                                   .aborted =
                                       [this](int instance, int exit_code, const std::string& message) {
                                         aborts.emplace_back(instance, exit_code, message);
                                       }});
};

}  // namespace pop::agent
