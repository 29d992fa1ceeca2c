// SPDX-License-Identifier: Apache-2.0
// Command lines as users of horovodrun write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "poprun/cli/parse.h"

namespace pop {
namespace {

using cli::Spelling;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

Options horovodrun(const std::vector<std::string>& arguments) {
  const cli::ParsedOptions parsed = cli::parseOptions(arguments, Spelling::kHorovodrun);
  EXPECT_THAT(parsed.mistakes, IsEmpty());
  EXPECT_THAT(parsed.warnings, IsEmpty());
  return parsed.options;
}

TEST(Horovodrun, TakesItsUsualOptions) {
  const Options options = horovodrun({"--gloo", "-np", "2", "-H", "localhost:2", "-p", "12345", "--verbose",
                                      "--output-filename", "logs", "--disable-cache", "python", "train.py"});
  EXPECT_THAT(options.programs.front().num_instances, Optional(2));
  EXPECT_EQ(options.host, "localhost:2");
  EXPECT_EQ(options.verbosity, 1);
  EXPECT_EQ(options.output_filename, "logs");
  EXPECT_EQ(options.tag_output, TagOutput::kMpi) << "as horovodrun tags";
  EXPECT_THAT(options.programs.front().command, ElementsAre("python", "train.py"));
}

TEST(Horovodrun, CountsHostsAsSlots) {
  EXPECT_TRUE(horovodrun({"x"}).hosts_are_slots && !horovodrun({"x"}).fills_cores);
}

TEST(Horovodrun, ReachesHostsAsItIsTold) {
  EXPECT_EQ(horovodrun({"-p", "12345", "x"}).hosts.rsh, "ssh -p 12345");
  EXPECT_EQ(horovodrun({"--ssh-port=1", "-i", "my key", "x"}).hosts.rsh, "ssh -p 1 -i 'my key'");
  EXPECT_EQ(horovodrun({"--start-timeout", "60", "x"}).hosts.connectTimeout(), std::chrono::seconds(60));
  EXPECT_EQ(horovodrun({"x"}).hosts.rsh, "");
}

TEST(Horovodrun, NamesNetworkInterfacesToHostsAndPrograms) {
  for (const char* option : {"--network-interface", "--network-interfaces"}) {
    const Options options = horovodrun({option, "eth0,eth1", "x"});
    EXPECT_EQ(options.host_subnet, "eth0,eth1");
    EXPECT_THAT(options.programs.front().environment,
                ElementsAre("HOROVOD_GLOO_IFACE=eth0", "NCCL_SOCKET_IFNAME=eth0,eth1",
                            "OMPI_MCA_btl_tcp_if_include=eth0,eth1"));
  }
}

TEST(Horovodrun, ChoosesWhatHorovodSpeaks) {
  EXPECT_THAT(horovodrun({"--gloo", "x"}).programs.front().environment, IsEmpty()) << "as poprun says anyway";
  EXPECT_THAT(horovodrun({"--mpi", "x"}).programs.front().environment,
              ElementsAre("HOROVOD_CONTROLLER=mpi", "HOROVOD_CPU_OPERATIONS=mpi"));
}

TEST(Horovodrun, SetsHorovodsVariables) {
  EXPECT_THAT(horovodrun({"--fusion-threshold-mb", "32", "--cycle-time-ms", "3.5",
                          "--timeline-filename=t.json", "--autotune", "x"})
                  .programs.front()
                  .environment,
              ElementsAre("HOROVOD_FUSION_THRESHOLD=33554432", "HOROVOD_CYCLE_TIME=3.5",
                          "HOROVOD_TIMELINE=t.json", "HOROVOD_AUTOTUNE=1"));
  EXPECT_THAT(
      horovodrun({"--tcp", "--gloo-timeout-seconds=60", "--mpi-threads-disable",
                  "--no-hierarchical-allreduce", "--autotune-warmup-samples", "3",
                  "--autotune-gaussian-process-noise=0.5", "x"})
          .programs.front()
          .environment,
      ElementsAre("NCCL_IB_DISABLE=1", "HOROVOD_GLOO_TIMEOUT_SECONDS=60", "HOROVOD_MPI_THREADS_DISABLE=1",
                  "HOROVOD_HIERARCHICAL_ALLREDUCE=0", "HOROVOD_AUTOTUNE_WARMUP_SAMPLES=3",
                  "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE=0.5"));
  EXPECT_THAT(cli::parseOptions({"--fusion-threshold-mb", "x", "x"}, Spelling::kHorovodrun).mistakes,
              ElementsAre("--fusion-threshold-mb: 'x' is not a number of MiB"));
}

TEST(Horovodrun, SaysItsVersionAndWhatItIsMadeOf) {
  EXPECT_TRUE(horovodrun({"-v"}).version);
  EXPECT_EQ(horovodrun({"-cb"}).version_format, VersionFormat::kFullText);
  EXPECT_TRUE(horovodrun({"--check-build"}).version);
}

TEST(Horovodrun, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(cli::parseOptions({"-np", "2", "--bogus", "-H", "a", "x"}, Spelling::kHorovodrun).mistakes,
              ElementsAre(HasSubstr("--bogus: no such option")));
}

TEST(Horovodrun, RefusesElasticJobs) {
  EXPECT_THAT(
      cli::parseOptions({"-np", "2", "--min-np", "1", "x"}, Spelling::kHorovodrun).mistakes,
      ElementsAre(HasSubstr("--min-np: not supported by poprun: the number of instances cannot change")));
}

}  // namespace
}  // namespace pop
