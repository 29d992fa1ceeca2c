// SPDX-License-Identifier: Apache-2.0
// Jobs of one host for a popdist-runner, each in a directory of its own; what a test leaves is found.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runner/store/job_directory.h"
#include "tests/integration/runner/runner_process.h"
#include "tests/testing/process_tree.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    std::filesystem::create_directory(job());
    std::filesystem::permissions(job(), std::filesystem::perms::owner_all);
    ::setenv("POP_RUNNER_TEST", directory_.path().c_str(), 1);
    ::setenv("GO", (directory_.path() + "/go").c_str(), 1);
  }
  ~RunnerTest() override {
    for (const pid_t pid : leftOver()) ::kill(pid, SIGKILL);
  }

  std::string job() const { return directory_.path() + "/job"; }
  void letGo() const { std::ofstream(directory_.path() + "/go") << "go"; }

  /// A shell's script as a job of `num_instances`.
  static v1::HostOrder scriptOrder(const std::string& script, int num_instances = 1) {
    v1::JobSpec spec;
    v1::Program& program = *spec.add_programs();
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script})
      program.add_words(word);
    program.set_num_instances(num_instances);
    spec.set_needs_pods(false);
    return orderOf(spec);
  }
  static v1::HostOrder orderOf(const v1::JobSpec& spec) {
    v1::HostOrder order;
    order.mutable_start()->mutable_key()->set_job(7);
    order.mutable_start()->set_user("alice");
    order.mutable_start()->set_spec(spec.SerializeAsString());
    order.mutable_start()->set_agent_job_id("7-1");
    return order;
  }
  static v1::HostOrder feedOrder() {
    v1::HostOrder order;
    order.mutable_feed()->set_job(7);
    return order;
  }
  static v1::HostOrder removeOrder() {
    v1::HostOrder order;
    order.mutable_remove()->set_job(7);
    return order;
  }

  std::vector<pid_t> leftOver() const {
    std::vector<pid_t> found = processesWith("POP_RUNNER_TEST=" + directory_.path());
    std::erase(found, ::getpid());
    return found;
  }
  bool nothingIsLeft() const {
    return waitUntil([this] { return leftOver().empty(); }, std::chrono::seconds(20));
  }

  /// The outcome in the job's file.
  std::optional<JobOutcome> outcomeOnDisk() const {
    const Result<std::string> bytes = runner::readOutcome(job());
    if (!bytes.ok()) return std::nullopt;
    const Result<wire::JobEvent> event = wire::decodeEvent(bytes.value(), 16);
    EXPECT_TRUE(event.ok()) << event.status().message();
    return std::get<JobOutcome>(event.value());
  }

  static std::string numbers(int count) {
    std::string text;
    for (int number = 1; number <= count; ++number) text += std::to_string(number) + '\n';
    return text;
  }

  TempDir directory_;
};

/// Waits for the file without a busy loop.
inline const std::string kWaitsToGo = "while ! test -e \"$GO\"; do sleep 0.01; done; ";

}  // namespace pop::testing
