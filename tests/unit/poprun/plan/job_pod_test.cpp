// SPDX-License-Identifier: Apache-2.0
// The Pods of jobs: chosen, named, described in files, or a partition.
#include "poprun/plan/job_pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/poprun/plan/built_jobs.h"

namespace pop {
namespace {

using testing::built;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mistakesOf;
using testing::optionsFor;

TEST(JobPod, EmulatesTheSmallestPodThatFits) {
  Options options = optionsFor(4);
  EXPECT_EQ(built(options).spec.system, "pod4");
  options.num_replicas = 8;
  EXPECT_EQ(built(options).spec.system, "pod16");
  options.ipus_per_replica = 8;
  EXPECT_EQ(built(options).spec.system, "pod64");
}

TEST(JobPod, EmulatesThePodThatIsAskedFor) {
  Options options = optionsFor(4);
  options.system = "BOW-Pod16";
  const BuiltJob job = built(options);
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_EQ(job.spec.system, "bow-pod16");
}

TEST(JobPod, RefusesAPodThatIsTooSmall) {
  Options options = optionsFor(4);
  options.num_replicas = 12;
  options.ipus_per_replica = 2;
  options.system = "pod16";
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--system pod16: 12 replicas of 2 IPUs on pod16: that takes "
                                    "24 IPUs and there are 16; reduce the number of replicas")));
}

TEST(JobPod, RefusesAPodThatDoesNotExist) {
  Options options = optionsFor(1);
  options.system = "pod5";
  EXPECT_THAT(mistakesOf(options),
              ElementsAre(HasSubstr("--system: no Pod is called 'pod5': use one of pod4, pod16")));
}

BuiltJob builtWithFile(const std::string& text) {
  Options options = optionsFor(8);
  options.system = "my.system";
  return buildJob(options, {.host_name = "node7",
                            .variable = [](const char*) -> const char* { return nullptr; },
                            .file = [&](const std::string& path) -> Result<std::string> {
                              EXPECT_EQ(path, "my.system");
                              if (text.empty()) return unavailable(path + ": no");
                              return text;
                            }});
}

TEST(JobPod, TakesTheTextOfASystemFile) {
  const BuiltJob job = builtWithFile("# mine\nsystem mine\nbase pod64-torus\nmachines 2  # of 16\n");
  EXPECT_THAT(job.mistakes, IsEmpty());
  EXPECT_THAT(
      job.spec.system,
      ::testing::StartsWith("system mine; ilds 1; machines 2; machines-per-gateway 1; topology torus;"));
}

TEST(JobPod, RefusesASystemFileThatCannotBe) {
  EXPECT_THAT(builtWithFile("").mistakes, ElementsAre("--system: my.system: no"));
  EXPECT_THAT(builtWithFile("system s\nmashines 2\n").mistakes,
              ElementsAre(HasSubstr("--system: my.system:2: 'mashines' is no word of a system")));
  EXPECT_THAT(
      builtWithFile("system s\nmachines 1\n").mistakes,
      ElementsAre(HasSubstr("--system s: 8 replicas of 1 IPU on s: that takes 8 IPUs and there are 4")));
  std::string links = "system s\nnodes 2000\n";
  for (int ipu = 1; ipu < 2000; ++ipu) links += "link ipu0 ipu" + std::to_string(ipu) + " 10 GB/s\n";
  EXPECT_THAT(builtWithFile(links).mistakes, ElementsAre(HasSubstr("--system: my.system: its system has 5")));
}

TEST(JobPod, MayHaveMoreIpusThanAnyPodAsLongAsNoneIsAskedFor) {
  Options options = optionsFor(2048);
  options.num_replicas = 131'072;
  EXPECT_THAT(mistakesOf(options), IsEmpty()) << "a program that uses none needs none";
  EXPECT_EQ(built(options).spec.system, "");
  options.system = "pod256";
  EXPECT_THAT(mistakesOf(options), ElementsAre(HasSubstr("--system pod256: 131072 replicas")));
}

TEST(JobPod, InAPartitionHasNoPodOfItsOwnUnlessNamed) {
  Options options = optionsFor(2);
  options.partition.name = "p";
  EXPECT_EQ(built(options).spec.system, "");
  options.controller.server = "head";
  EXPECT_EQ(built(options).spec.system, "");
  options.system = "bow-pod16";
  EXPECT_EQ(built(options).spec.system, "bow-pod16");
  options.system.clear();
  options.partition.name.clear();
  options.partition.server_timeout_seconds = 7;
  EXPECT_EQ(built(options).spec.system, "pod4") << "popdistd gives a job without a name no partition";
  options.controller.server.clear();
  EXPECT_EQ(built(options).spec.system, "") << "the only one there is";
  options.offline_mode = true;
  EXPECT_EQ(built(options).spec.system, "pod4");
}

}  // namespace
}  // namespace pop
