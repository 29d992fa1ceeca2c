// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/instance_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "common/model/placement.h"

namespace pop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kCores = 12;

Options countsOf(std::optional<int> instances, const std::string& hosts) {
  Options options;
  options.host = hosts;
  options.programs.front() = {.num_instances = instances, .command = {"./train"}};
  return options;
}
Options mpirun(std::optional<int> instances, const std::string& hosts) {
  Options options = countsOf(instances, hosts);
  options.hosts_are_slots = true;
  options.fills_cores = true;
  return options;
}
Options perHost(Options options, InstancesPerHost per_host) {
  options.per_host = per_host;
  return options;
}
Options oversubscribed(Options options) {
  options.oversubscribe = true;
  return options;
}

BuiltJob builtJob(const Options& options, const std::string& hostfile = "") {
  return buildJob(options, {.host_name = "here",
                            .variable = [](const char*) -> const char* { return nullptr; },
                            .file = [&](const std::string&) -> Result<std::string> { return hostfile; },
                            .cores = [] { return kCores; }});
}

// The number of instances on each host.
std::vector<int> counts(const Options& options, const std::string& hostfile = "") {
  const BuiltJob job = builtJob(options, hostfile);
  EXPECT_THAT(job.mistakes, IsEmpty());
  if (!job.mistakes.empty()) return {};
  std::vector<int> counts(job.spec.hosts.size());
  for (const model::InstancePlacement& each : model::place(job.spec))
    ++counts[static_cast<std::size_t>(each.host)];
  return counts;
}

TEST(CountInstances, FillsHostsUpToTheirSlots) {
  EXPECT_THAT(counts(countsOf(6, "a:4,b:4")), ElementsAre(4, 2));
  EXPECT_THAT(counts(countsOf({}, "a:4,b:3")), ElementsAre(4, 3));
  Options options = countsOf(7, "");
  options.hostfile = "f";
  EXPECT_THAT(counts(options, "a slots=4\nb:2\nc slots=8 max_slots=9\n"), ElementsAre(4, 2, 1));
}

TEST(CountInstances, MayBeSaidOfEveryHost) {
  EXPECT_THAT(counts(perHost(countsOf(5, "a,b,c"), {.most = 2})), ElementsAre(2, 2, 1));
  EXPECT_THAT(counts(perHost(countsOf(3, "a,b,c"), {.most = 2})), ElementsAre(2, 1, 0));
  EXPECT_THAT(counts(perHost(countsOf({}, "a,b,c"), {.most = 2})), ElementsAre(2, 2, 2));
  EXPECT_THAT(counts(perHost(mpirun({}, "a,b"), {.most = 3})), ElementsAre(3, 3));
  EXPECT_THAT(counts(perHost(countsOf(4, "a:8,b:1"), {.most = 2})), ElementsAre(2, 2))
      << "instead of the slots";
  EXPECT_THAT(counts(perHost(countsOf({}, ""), {.most = 3})), ElementsAre(3));
}

TEST(CountInstances, IsOneForEachHostThatPopdistdChooses) {
  Options options = countsOf(std::nullopt, "");
  options.controller = {.server = "h:1", .num_hosts = 2};
  const BuiltJob job = builtJob(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_EQ(job.spec.num_instances, 2);
  EXPECT_EQ(builtJob(perHost(options, {.most = 3})).spec.num_instances, 6);
  options.num_replicas = 8;
  EXPECT_EQ(builtJob(options).spec.num_instances, 2);
  options.programs.front().num_instances = 4;
  EXPECT_EQ(builtJob(options).spec.num_instances, 4);
}

TEST(CountInstances, RefusesMoreThanFit) {
  for (const Options& options :
       {countsOf(5, "a:2,b:2"), mpirun(5, "a:2,b:2"), perHost(countsOf(5, "a,b"), {.most = 2})}) {
    EXPECT_THAT(builtJob(options).mistakes,
                ElementsAre(HasSubstr("--num-instances 5: the hosts have 4 slots")));
    EXPECT_THAT(builtJob(options).mistakes, ElementsAre(HasSubstr("--oversubscribe")));
  }
  EXPECT_THAT(builtJob(perHost(countsOf(5, "a:2,b:2"), {.even = true})).mistakes,
              ElementsAre(HasSubstr("the hosts have 4 slots")));
}

TEST(CountInstances, DividesEvenlyWhereAsked) {
  const auto even = [](int instances, const std::string& hosts) {
    return counts(perHost(countsOf(instances, hosts), {.even = true}));
  };
  EXPECT_THAT(even(6, "a,b,c"), ElementsAre(2, 2, 2));
  EXPECT_THAT(even(5, "a,b,c"), ElementsAre(2, 2, 1));
  EXPECT_THAT(even(2, "a,b,c"), ElementsAre(1, 1, 0));
  EXPECT_THAT(even(4, "a:8,b:8"), ElementsAre(2, 2));
  EXPECT_THAT(even(7, "a:1,b:8,c:8"), ElementsAre(1, 3, 3));
  EXPECT_THAT(even(8, "a:1,b:8,c:8"), ElementsAre(1, 4, 3));
  EXPECT_THAT(even(17, "a:1,b:8,c:8"), ElementsAre(1, 8, 8));
}

TEST(CountInstances, KeepsToPoprunsRulesUnderItsOwnName) {
  EXPECT_THAT(counts(countsOf({}, "")), ElementsAre(1));
  EXPECT_THAT(builtJob(countsOf({}, "a,b")).mistakes, ElementsAre(HasSubstr("cannot be divided evenly")));
  EXPECT_THAT(builtJob(countsOf(3, "a,b")).mistakes, ElementsAre(HasSubstr("cannot be divided evenly")));
}

TEST(CountInstances, DividesAsMpirunUnderItsName) {
  EXPECT_THAT(counts(mpirun(4, "a,b")), ElementsAre(2, 2));
  EXPECT_THAT(counts(mpirun(3, "a,b")), ElementsAre(2, 1));
  EXPECT_THAT(counts(mpirun(1, "a,b")), ElementsAre(1, 0));
  EXPECT_THAT(counts(mpirun(3, "a:4,b:4")), ElementsAre(3, 0));
  EXPECT_THAT(counts(oversubscribed(mpirun(7, "a:1,b:2"))), ElementsAre(4, 3));
  EXPECT_THAT(counts(oversubscribed(mpirun(3, "a:1,b:2"))), ElementsAre(1, 2));
}

TEST(CountInstances, FollowsHostsOrCoresUnderMpirunsName) {
  EXPECT_THAT(counts(mpirun({}, "a,b")), ElementsAre(1, 1));
  EXPECT_THAT(counts(mpirun({}, "a:3,b")), ElementsAre(3, 1));
  Options by_file = mpirun({}, "");
  by_file.hostfile = "f";
  EXPECT_THAT(counts(by_file, "a\nb\na\n"), ElementsAre(2, 1));
  EXPECT_THAT(counts(mpirun({}, "")), ElementsAre(kCores));
  Options hydra = mpirun({}, "");
  hydra.fills_cores = false;
  EXPECT_THAT(counts(hydra), ElementsAre(1));
  Options two = mpirun({}, "");
  two.programs.push_back({.num_instances = 2, .command = {"./other"}});
  EXPECT_THAT(counts(two), ElementsAre(3)) << "one of the first program";
}

TEST(CountInstances, NeedsNoPodsUnderMpirunsNameUnlessTheyAreNamed) {
  EXPECT_THAT(counts(mpirun(256, "a:128,b:128")), ElementsAre(128, 128));
  EXPECT_THAT(counts(mpirun(200, "a:128,b:128")), ElementsAre(128, 72));
  Options options = mpirun(256, "a:128,b:128");
  options.ipus_per_replica = 2;
  EXPECT_THAT(builtJob(options).mistakes, ElementsAre(HasSubstr("8 Pods")));
  EXPECT_THAT(builtJob(countsOf(256, "a:128,b:128")).mistakes, ElementsAre(HasSubstr("4 Pods")));
}

}  // namespace
}  // namespace pop
