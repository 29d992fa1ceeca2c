// SPDX-License-Identifier: Apache-2.0
// A real popdistd with real agent services that have joined it, on this machine, and a client over gRPC.
#pragma once

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/os/helper_program.h"
#include "proto/popdist/v1/controller.grpc.pb.h"
#include "tests/testing/file_text.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

namespace v1 = ::popdist::v1;

inline constexpr Milliseconds kTimeout{30000};

class DaemonTest : public ::testing::Test {
 protected:
  /// `listen`: where popdistd does, for hosts elsewhere that know it as `name`.
  explicit DaemonTest(std::string listen = "127.0.0.1", const std::string& name = "");
  ~DaemonTest() override;

  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }

  /// With those of localhost as the host's.
  void makeCertificates(const std::string& directory, const std::string& options) const;

  // ---- processes

  /// At the same port each time; returns when it serves.
  void startDaemon(const std::string& http = "none");
  /// Returns when it has joined.
  void startHost(const std::string& name, int slots = 4);
  /// Another program, looked up in PATH; it ends with the test.
  void startProgram(const std::string& name, const std::string& command);
  /// Waits until a host that lost popdistd has found it again.
  void waitForHost(const std::string& name);
  /// kill -9, or another signal; returns when it is gone.
  void kill(const std::string& process, int signal);
  /// kill -9 of a child of the process, once it is there.
  void killChild(const std::string& process, const std::string& child);
  /// popdistd's port for clients and hosts.
  int port() const { return port_; }
  pid_t pidOf(const std::string& process) const { return processes_.at(process).pid(); }
  std::string logOf(const std::string& process) const { return fileText(path(process + ".log")); }
  /// The process of a job's runner on this machine; 0: there is none.
  pid_t runnerOf(std::int64_t job) const;

  // ---- a client

  std::shared_ptr<grpc::Channel> channel(const std::string& user = "alice");
  v1::Controller::Stub& client(const std::string& user = "alice");

  static v1::SubmitRequest shell(const std::string& script, int num_instances = 1);
  std::int64_t submit(const v1::SubmitRequest& request);
  v1::JobInfo job(std::int64_t id);
  /// Tries again while popdistd is away.
  v1::JobInfo waitForEnd(std::int64_t id);
  v1::JobInfo waitForState(std::int64_t id, v1::JobState state);
  grpc::Status cancel(std::int64_t id, const std::string& user = "alice");

  struct Log {
    std::string text;
    std::vector<std::uint64_t> sequences;
    std::optional<v1::JobOutcome> outcome;
    grpc::Status status;
  };
  /// Reads a job's records from where `log` ends, until the stream does.
  void readLog(std::int64_t id, bool follow, Log& log, const std::string& user = "alice");
  /// The whole of it, across lost connections.
  Log wholeLog(std::int64_t id);

 private:
  void start(const std::string& name, const std::string& command);

  TempDir directory_;
  std::string listen_;
  int port_ = 0;
  std::map<std::string, os::HelperProgram> processes_;
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;
  std::map<std::string, std::unique_ptr<v1::Controller::Stub>> clients_;
};

}  // namespace pop::testing
