// SPDX-License-Identifier: Apache-2.0
#include "pod/chakra/execution_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/chakra/execution_trace.pb.h"

namespace pop::pod::chakra {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void addMessage(std::string& bytes, const google::protobuf::MessageLite& message) {
  const std::string text = message.SerializeAsString();
  ASSERT_LT(text.size(), 128U) << "its length is one byte";
  bytes += static_cast<char>(text.size()) + text;
}

std::string traceOf(const ::chakra::Node& node, const std::string& version = "0.0.4") {
  std::string bytes;
  ::chakra::GlobalMetadata metadata;
  metadata.set_version(version);
  addMessage(bytes, metadata);
  addMessage(bytes, node);
  return bytes;
}

::chakra::Node collective(std::int64_t type, std::uint64_t bytes) {
  ::chakra::Node node;
  node.set_id(7);
  node.set_name("grads");
  node.set_type(::chakra::COMM_COLL_NODE);
  ::chakra::Attribute* kind = node.add_attr();
  kind->set_name("comm_type");
  kind->set_int64_val(type);
  ::chakra::Attribute* size = node.add_attr();
  size->set_name("comm_size");
  size->set_uint64_val(bytes);
  return node;
}

std::string refusal(const std::string& bytes) {
  return readExecutionTrace(bytes, "w.3.et").status().message();
}

TEST(ExecutionTrace, IsReadAsItWasWritten) {
  const std::vector<TraceNode> nodes{
      {.id = 3, .name = "step", .duration = std::chrono::microseconds(1500)},
      {.id = 300,
       .name = "grads",
       .dependencies = {3},
       .collective = TracedCollective{CollectiveKind::kAllGather, 1 << 20, 2}}};
  const std::string bytes = executionTrace(nodes);
  auto read = readExecutionTrace(bytes, "w.0.et");
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).duration, std::chrono::microseconds(1500));
  EXPECT_FALSE(read->at(0).collective.has_value());
  EXPECT_EQ(read->at(1).id, 300U);
  EXPECT_EQ(read->at(1).name, "grads");
  EXPECT_EQ(read->at(1).dependencies, nodes[1].dependencies);
  EXPECT_EQ(read->at(1).collective, nodes[1].collective);
}

// Bytes that Chakra's own generator would write: field numbers are Chakra's, not ours.
TEST(ExecutionTrace, HasChakrasNumbers) {
  const std::string bytes(
      "\x07\x0a\x05"
      "0.0.4"
      "\x2a\x08\x05\x12\x01g\x18\x07"
      "\x52\x0d\x0a\x09"
      "comm_type\x48\x02"
      "\x52\x0f\x0a\x09"
      "comm_size\x68\x80\x80\x04\x2a\x01\x04",
      8 + 43);
  auto read = readExecutionTrace(bytes, "w.0.et");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->at(0).id, 5U);
  EXPECT_EQ(read->at(0).collective, (TracedCollective{CollectiveKind::kAllGather, 65536, 4}));
}

TEST(ExecutionTrace, ThatIsDamagedIsRefused) {
  const std::string whole = traceOf(collective(::chakra::ALL_REDUCE, 4096));
  EXPECT_TRUE(readExecutionTrace(whole, "w.3.et").ok());
  EXPECT_THAT(refusal(""), StartsWith("w.3.et: the file ends within the length of a message"));
  EXPECT_THAT(refusal("{\"nodes\": []}"), HasSubstr("a message of 123 bytes, and the file ends after 12"));
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1)), HasSubstr("w.3.et: after 0 nodes: a message of"));
  EXPECT_THAT(refusal(whole + std::string("\x01\xff", 2)),
              HasSubstr("after 1 node: a message that is no protocol buffer"));
  EXPECT_THAT(refusal(std::string(9, '\xff')), HasSubstr("too long"));
  EXPECT_THAT(refusal(traceOf(collective(0, 1), "0.0.9")),
              HasSubstr("version '0.0.9' of Chakra's schema: 0.0.4 is known"));
  EXPECT_THAT(refusal(whole.substr(0, 8)), HasSubstr("it has no nodes"));
}

TEST(ExecutionTrace, ThatCannotBeSimulatedIsRefusedWithItsNode) {
  const auto refused = [](const ::chakra::Node& node) { return refusal(traceOf(node)); };
  EXPECT_THAT(
      refused(collective(::chakra::BROADCAST, 1)),
      StartsWith("w.3.et: node 7, 'grads': comm_type BROADCAST is not simulated: ALL_REDUCE, ALL_GATHER, "
                 "REDUCE_SCATTER and ALL_TO_ALL are"));
  EXPECT_THAT(refused(collective(99, 1)), HasSubstr("comm_type 99 is not"));
  EXPECT_THAT(refused(collective(-1, 1)), HasSubstr("comm_type is negative"));
  EXPECT_THAT(refused(collective(0, 0)), HasSubstr("a comm_size of 0"));
  EXPECT_THAT(refused(collective(0, std::uint64_t{1} << 60)), HasSubstr("it must be from 1 to"));

  ::chakra::Node node = collective(0, 1);
  node.mutable_attr(1)->set_name("comm_sise");
  EXPECT_THAT(refused(node), HasSubstr("it has no comm_size"));
  node = collective(0, 1);
  node.mutable_attr(1)->set_string_val("1");
  EXPECT_THAT(refused(node), HasSubstr("comm_size is no whole number"));
  ::chakra::Attribute* group = node.add_attr();
  group->set_name("pg_name");
  group->set_string_val("3");
  node.mutable_attr(1)->set_uint64_val(1);
  EXPECT_THAT(refused(node), HasSubstr("the group of ranks '3'"));
  group->set_name("involved_dim");
  group->mutable_bool_list()->add_values(false);
  EXPECT_THAT(refused(node), HasSubstr("involved_dim leaves ranks out"));
  group->set_name("is_cpu_op");
  group->set_bool_val(true);
  EXPECT_THAT(refused(node), HasSubstr("a host's CPU"));

  node.Clear();
  node.set_type(::chakra::COMM_SEND_NODE);
  EXPECT_THAT(refused(node), HasSubstr("nodes of type COMM_SEND_NODE are not simulated"));
  node.set_type(::chakra::COMP_NODE);
  node.add_attr()->set_name("num_ops");
  EXPECT_THAT(refused(node), HasSubstr("durations are replayed"));
  node.set_duration_micros(~std::uint64_t{0});
  EXPECT_THAT(refused(node), HasSubstr("at most"));
  node.set_name("\x1b[31m");
  EXPECT_THAT(refused(node), HasSubstr("'\\x1b[31m'"));
}

}  // namespace
}  // namespace pop::pod::chakra
