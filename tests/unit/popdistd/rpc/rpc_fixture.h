// SPDX-License-Identifier: Apache-2.0
// A gRPC server of a fake daemon, and clients of it over loopback.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/sys/random_name.h"
#include "popdistd/access/accounts.h"
#include "popdistd/rpc/rpc_server.h"
#include "proto/popdist/v1/controller.grpc.pb.h"
#include "proto/popdist/v1/host.grpc.pb.h"
#include "tests/testing/fake_api.h"
#include "tests/testing/fake_pods_api.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/test_pairs.h"

namespace pop::popdistd {

class RpcTest : public ::testing::Test {
 protected:
  ~RpcTest() override { stop(); }

  void serve(std::optional<tls::TlsFiles> files = {},
             std::chrono::milliseconds write_timeout = std::chrono::seconds(60)) {
    Result<std::unique_ptr<RpcServer>> started = loop.run([&] {
      return RpcServer::start(
          loop.loop(), served(),
          {.address = "127.0.0.1",
           .port = 0,
           .tls = std::move(files),
           .identify = identify(),
           .is_still_good = [this](const Peer& peer) { return accounts.isStillGood(peer); },
           .write_timeout = write_timeout,
           .join_timeout = join_timeout,
           .arrival_timeout = arrival_timeout,
           .headers = headers});
    });
    ASSERT_TRUE(started.ok()) << started.status().message();
    server = std::move(*started);
    place = "127.0.0.1:" + std::to_string(server->port());
  }
  void serveWithTls() { serve(pairs.filesOf(hostPair({"127.0.0.1", "server"}))); }

  void stop() {
    if (!server) return;
    std::promise<void> stopped;
    loop.run([&] {
      server->stop(unavailable("popdistd is being stopped: by the test"), [&] { stopped.set_value(); });
    });
    stopped.get_future().wait();
    server.reset();
  }

  tls::KeyPair hostPair(const std::vector<std::string>& names) const {
    return tls::makeHostCertificate(pairs.authority, names, 10).value();
  }
  tls::KeyPair userPair(const std::string& user) const {
    return tls::makeUserCertificate(pairs.authority, user, 10).value();
  }

  virtual Served served() { return {api, gate, pods, vipu}; }
  virtual Identify identify() {
    return [this](const Peer& peer, const Credentials& said) { return accounts.identify(peer, said); };
  }

  std::shared_ptr<grpc::Channel> channel(const std::optional<tls::KeyPair>& pair = {}) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxSendMessageSize(-1);
    if (!pair) return grpc::CreateCustomChannel(place, grpc::InsecureChannelCredentials(), arguments);
    grpc::SslCredentialsOptions options{pairs.authority.certificate_pem, pair->key_pem,
                                        pair->certificate_pem};
    return grpc::CreateCustomChannel(place, grpc::SslCredentials(options), arguments);
  }
  std::unique_ptr<v1::Controller::Stub> controller(const std::optional<tls::KeyPair>& pair = {}) const {
    return v1::Controller::NewStub(channel(pair));
  }
  std::unique_ptr<v1::Hosts::Stub> hosts(const std::optional<tls::KeyPair>& pair = {}) const {
    return v1::Hosts::NewStub(channel(pair));
  }

  static void setDeadline(grpc::ClientContext& context, std::chrono::milliseconds time) {
    context.set_deadline(std::chrono::system_clock::now() + time);
  }

  static v1::Change changeOf(std::uint64_t revision, std::size_t bytes = 0) {
    v1::Change change;
    change.set_revision(revision);
    change.mutable_job()->set_reason(std::string(bytes, 'x'));
    return change;
  }

  std::chrono::milliseconds join_timeout{10'000};
  std::chrono::milliseconds arrival_timeout{10'000};
  std::shared_ptr<HeaderCheck> headers = std::make_shared<HeaderCheck>();
  testing::TestPairs pairs;
  Accounts accounts{{.own_user = "me", .random_name = [] { return sys::randomName(); }}};
  testing::FakeApi api;
  testing::FakeGate gate;
  testing::FakePodsApi pods;
  testing::FakeVipuApi vipu;
  testing::LoopThread loop;
  std::unique_ptr<RpcServer> server;
  std::string place;
};

}  // namespace pop::popdistd
