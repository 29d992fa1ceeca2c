// SPDX-License-Identifier: Apache-2.0
#include "common/wire/agent_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/wire/agent_messages_samples.h"

namespace pop::wire {
namespace {

using ::testing::HasSubstr;
using testing::sampleCommands;
using testing::sampleReports;

TEST(Codec, BringsEveryCommandThroughTheWire) {
  std::uint64_t number = 0;
  for (const AgentCommand& command : sampleCommands()) {
    const v1::Command sent = encode(NumberedCommand{++number, command});
    v1::Command arrived;
    ASSERT_TRUE(arrived.ParseFromString(sent.SerializeAsString())) << number;
    NumberedCommand decoded;
    ASSERT_TRUE(decode(arrived, decoded).ok()) << number;
    EXPECT_EQ(decoded.number, number);
    EXPECT_EQ(decoded.command.index(), command.index());
    EXPECT_EQ(encode(decoded).SerializeAsString(), sent.SerializeAsString()) << sent.DebugString();
  }
  EXPECT_EQ(std::variant_size_v<AgentCommand> + 1, number) << "a sample of each, and the end of stdin";
}

TEST(Codec, BringsEveryReportThroughTheWire) {
  std::uint64_t number = 0;
  for (const AgentReport& report : sampleReports()) {
    const v1::Report sent = encode(NumberedReport{++number, report});
    v1::Report arrived;
    ASSERT_TRUE(arrived.ParseFromString(sent.SerializeAsString())) << number;
    NumberedReport decoded;
    ASSERT_TRUE(decode(arrived, decoded).ok()) << number;
    EXPECT_EQ(decoded.number, number);
    EXPECT_EQ(decoded.report.index(), report.index());
    EXPECT_EQ(encode(decoded).SerializeAsString(), sent.SerializeAsString()) << sent.DebugString();
  }
  EXPECT_EQ(std::variant_size_v<AgentReport> + 1, number)
      << "a sample of each, and a description that failed";
}

TEST(Codec, KeepsWhatASliceSays) {
  const JobSlice slice = decode(encode(testing::sampleSlice())).value();
  EXPECT_EQ(slice.instances.front().env, testing::sampleSlice().instances.front().env);
  EXPECT_EQ(slice.instances.front().place, testing::sampleSlice().instances.front().place);
  EXPECT_EQ(slice.instances.front().binding, testing::sampleSlice().instances.front().binding);
  EXPECT_EQ(slice.programs, testing::sampleSlice().programs);
  EXPECT_EQ(slice.rendezvous, testing::sampleSlice().rendezvous);
  EXPECT_EQ(slice.poplar, testing::sampleSlice().poplar);
  EXPECT_EQ(slice.env_families, testing::sampleSlice().env_families);
  EXPECT_EQ(slice.stdin_policy, testing::sampleSlice().stdin_policy);
}

TEST(Codec, KeepsATopology) {
  EXPECT_EQ(decode(encode(testing::sampleFacts().topology)).value(), testing::sampleFacts().topology);
}

TEST(Codec, RefusesWhatSaysNothing) {
  NumberedCommand command;
  EXPECT_EQ(decode(v1::Command(), command).code(), Code::kInvalidArgument);
  NumberedReport report;
  EXPECT_EQ(decode(v1::Report(), report).code(), Code::kInvalidArgument);
}

TEST(Codec, RefusesADetailThatThereIsNot) {
  v1::Command command = encode(NumberedCommand{1, DescribeCommand{0, model::TopologyDetail::kCores}});
  EXPECT_EQ(command.describe().detail(), v1::TOPOLOGY_CORES);
  NumberedCommand decoded;
  EXPECT_TRUE(decode(command, decoded).ok());
  for (const int detail : {-1, 3}) {
    command.mutable_describe()->set_detail(static_cast<v1::TopologyDetail>(detail));
    EXPECT_EQ(decode(command, decoded).code(), Code::kInvalidArgument);
    EXPECT_THAT(decode(command, decoded).message(), HasSubstr("detail " + std::to_string(detail)));
  }
}

TEST(Codec, RefusesASliceThatCannotBe) {
  const v1::Slice good = encode(testing::sampleSlice());
  const auto refused = [](const v1::Slice& slice) { return decode(slice).status().message(); };
  v1::Slice slice = good;
  slice.mutable_instances(0)->set_program(1);
  EXPECT_THAT(refused(slice), HasSubstr("program 1"));
  slice = good;
  *slice.add_instances() = slice.instances(0);
  EXPECT_THAT(refused(slice), HasSubstr("twice"));
  slice = good;
  slice.mutable_programs(0)->clear_command();
  EXPECT_THAT(refused(slice), HasSubstr("without a command"));
  slice = good;
  slice.mutable_instances(0)->mutable_binding()->set_cpus("all");
  EXPECT_FALSE(refused(slice).empty());
  slice = good;
  slice.set_env_families("nonsense");
  EXPECT_THAT(refused(slice), HasSubstr("nonsense"));
  slice = good;
  slice.set_stdin_who(static_cast<v1::StdinReaders>(9));
  EXPECT_THAT(refused(slice), HasSubstr("9"));
  slice = good;
  slice.set_kill_grace_ms(-1);
  EXPECT_THAT(refused(slice), HasSubstr("grace"));
}

TEST(Codec, RefusesFactsThatCannotBe) {
  v1::Report report = encode(NumberedReport{1, DescribedReport{{}, testing::sampleFacts()}});
  report.mutable_described()->mutable_topology()->clear_allowed();
  NumberedReport decoded;
  EXPECT_THAT(decode(report, decoded).message(), HasSubstr("without CPUs"));
  report.mutable_described()->set_code(static_cast<v1::StatusCode>(99));
  EXPECT_THAT(decode(report, decoded).message(), HasSubstr("99"));
}

// A reader of a host's CPUs has room for the allowed ones only.
TEST(Codec, RefusesATopologyWithCpusThatAreNotAllowedOrInSeveralPlaces) {
  const v1::Topology good = encode(testing::sampleFacts().topology);  // 0-3 are allowed
  const auto refused = [](const v1::Topology& topology) { return decode(topology).status().message(); };
  v1::Topology topology = good;
  topology.mutable_nodes(0)->set_cpus("0-60000");
  EXPECT_THAT(refused(topology), HasSubstr("CPU 4 of a topology is not allowed"));
  topology = good;
  topology.mutable_cores(0)->set_cpus("4");
  EXPECT_THAT(refused(topology), HasSubstr("CPU 4 "));
  topology = good;
  topology.mutable_nodes(1)->set_cpus("3");
  EXPECT_THAT(refused(topology), HasSubstr("CPU 3 "));
  topology = good;
  *topology.add_cores() = topology.cores(0);
  EXPECT_THAT(refused(topology), HasSubstr("CPU 0 "));
}

}  // namespace
}  // namespace pop::wire
