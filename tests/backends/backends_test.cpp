// SPDX-License-Identifier: Apache-2.0
// Backends are chosen by name, loaded, and refused with words that help. That they keep the contract of
// collectives is shown by tests/contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/backends/backends_of_build.h"
#include "tests/integration_popdist/reported_error.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> allBackends() {
  std::vector<std::string> names = backendsOfBuild();
  names.emplace_back("native");
  return names;
}

class ForkedChild : public ::testing::TestWithParam<std::string> {};

TEST_P(ForkedChild, MayDestroyACommunicatorOfItsParent) {
  PoprunSetup setup = childSetup(2, {"forked"});
  setup.environment["POPDIST_BACKEND"] = GetParam();
  prepareFor(GetParam(), setup.environment);
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Backends, ForkedChild, ::testing::ValuesIn(allBackends()),
                         [](const auto& tested) { return tested.param; });

class RegisteredBackend : public ::testing::TestWithParam<std::string> {};

TEST_P(RegisteredBackend, IsStrongerThanTheEnvironment) {
  PoprunSetup setup = childSetup(2, {"register", GetParam()});
  setup.environment["POPDIST_BACKEND"] = "native";
  prepareFor(GetParam(), setup.environment);
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

// The C library allocates by the program's malloc for every caller, so its free must be the program's, too.
TEST_P(RegisteredBackend, RunsInAProgramThatBringsItsOwnMalloc) {
  PoprunSetup setup = childSetup(2, {"register", GetParam()});
  std::replace(setup.options.begin(), setup.options.end(), std::string(POPDIST_CHILD_PATH),
               std::string(CHILD_WITH_OWN_MALLOC_PATH));
  prepareFor(GetParam(), setup.environment);
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

// The name of a program found in PATH says nothing of its folder.
TEST_P(RegisteredBackend, IsFoundByAProgramThatIsLookedUpInPath) {
  const std::filesystem::path program = POPDIST_CHILD_PATH;
  PoprunSetup setup = childSetup(2, {"register", GetParam()});
  std::replace(setup.options.begin(), setup.options.end(), program.string(), program.filename().string());
  setup.environment["PATH"] = program.parent_path().string();
  prepareFor(GetParam(), setup.environment);
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

std::string sumsOf(int instances, const std::string& variable, const std::string& value) {
  PoprunSetup setup = childSetup(instances, {"sums"});
  setup.environment[variable] = value;
  prepareFor(value, setup.environment);
  const Outcome outcome = run(setup, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  std::vector<std::string> lines = linesOf(outcome.out);
  std::sort(lines.begin(), lines.end());  // instances' lines come in any order
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

TEST_P(RegisteredBackend, SumsInTheOrderOfOurOwnConnections) {
  for (const int instances : {2, 3, 4}) {
    const std::string own = sumsOf(instances, "POPDIST_TRANSPORT", "tcp");
    EXPECT_THAT(own, HasSubstr("[1] bfloat16 "));
    EXPECT_EQ(sumsOf(instances, "POPDIST_BACKEND", GetParam()), own) << instances << " instances";
  }
}

INSTANTIATE_TEST_SUITE_P(Names, RegisteredBackend, ::testing::ValuesIn(backendsOfBuild()),
                         [](const auto& tested) { return tested.param; });

TEST(RegisteredGrpc, LeavesTheProgramItsLogOfGrpc) {
  const Outcome outcome = run({.options = {"--num-instances", "2", GRPC_USER_PATH}}, kSpinningTimeout);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

ReportedError errorOf(const std::vector<std::string>& command, int instances = 1) {
  const Outcome outcome = run(childSetup(instances, command));
  EXPECT_NE(outcome.exit_code, 0);
  const auto errors = reportedErrors(instances > 1 ? outcome.out : "[0] " + outcome.out);
  return errors.empty() ? ReportedError{} : errors.begin()->second;
}

TEST(RegisterBackend, SaysWhichBackendsThereAre) {
  const ReportedError error = errorOf({"register", "rdma"}, 2);
  EXPECT_EQ(error.code, 5);
  EXPECT_THAT(error.what, HasSubstr("no backend 'rdma': found grpc, "));
  EXPECT_THAT(error.what, HasSubstr("native"));
  EXPECT_THAT(error.what, HasSubstr("POPDIST_BACKEND_PATH"));
}

TEST(RegisterBackend, RefusesFilesThatAreNone) {
  const ReportedError missing = errorOf({"register", "/no/such/backend.so"}, 2);
  EXPECT_EQ(missing.code, 5);
  EXPECT_THAT(missing.what, HasSubstr("no backend '/no/such/backend.so': No such file or directory"));
  const ReportedError error = errorOf({"register", "/etc/passwd"}, 2);
  EXPECT_EQ(error.code, kFailedPreconditionCode);
  EXPECT_THAT(error.what, HasSubstr("cannot load the backend"));
}

TEST(RegisterBackend, RefusesAnotherVersion) {
  const ReportedError error = errorOf({"register", OLD_BACKEND_PATH}, 2);
  EXPECT_EQ(error.code, kFailedPreconditionCode);
  EXPECT_THAT(error.what,
              HasSubstr("implements version 3 of the plugin interface, this libpopdist needs version 4: "
                        "build it with this libpopdist's popdist/backend_plugin.hpp"));
}

TEST(RegisterBackend, MayComeTooLate) {
  const ReportedError error = errorOf({"register", "grpc", "late"}, 2);
  EXPECT_EQ(error.code, kFailedPreconditionCode);
  EXPECT_THAT(error.what, HasSubstr("already connected: call it before"));
}

void expectThatAllHearWhyOneCannotBeReached(const std::string& refusing_backend) {
  PoprunSetup setup = childSetup(3, {"unmade"});
  setup.environment["POPDIST_BACKEND"] = refusing_backend;
  const Outcome outcome = run(setup);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const auto errors = reportedErrors(outcome.out);
  EXPECT_EQ(errors.size(), 3U) << outcome.out;
  for (const auto& [instance, error] : errors) {
    EXPECT_EQ(error.code, 7) << error.what;
    EXPECT_THAT(error.what,
                HasSubstr(instance == 1 ? ": no door is open" : ": rank 1 (instance 1): no door is open"));
  }
}

// All get the error of the instance that cannot be reached.
TEST(Instances, AllHearWhyOneCannotBeReached) {
  expectThatAllHearWhyOneCannotBeReached(REFUSING_BACKEND_PATH);
}

TEST(Instances, MayHaveABackendWhosePathHasBlanks) {
  const TempDir directory;
  const std::string path = directory.path() + "/a backend.so";
  std::filesystem::copy_file(REFUSING_BACKEND_PATH, path);
  expectThatAllHearWhyOneCannotBeReached(path);
}

TEST(Instances, MustHaveTheSameBackend) {
  const ReportedError error = errorOf({"mixed"}, 2);
  EXPECT_EQ(error.code, kFailedPreconditionCode);
  EXPECT_THAT(
      error.what,
      HasSubstr("instance 0 uses backend grpc, instance 1 uses native: set the same POPDIST_BACKEND"));
}

}  // namespace
}  // namespace pop::testing
