// SPDX-License-Identifier: Apache-2.0
// V-IPU's wire: each message with all of its fields, each enum with all of its values, each call. This
// table is the wire of V-IPU's clients; it changes when V-IPU changes, and not because our proto files
// did.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/virmgrpc/version.pb.h"
#include "proto/virmgrpc/vipuuser.pb.h"

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

// "3 repeated string errors"
using Lines = std::set<std::string>;
const std::map<std::string, Lines> kMessages{
    {"VersionRequest", {}},
    {"VersionReply", {"1 string version"}},
    {"PartitionIpu",
     {"1 uint32 ipulink_domain_topology_id", "2 uint32 ipulink_domain_routing_id", "3 uint32 topology_id",
      "4 uint32 routing_id"}},
    {"PartitionSpec",
     {"1 string cluster_id", "2 repeated virmgrpc.PartitionIpu ipus",
      "3 virmgrpc.IpuLinkRoutingType ipulink_routing_type", "4 virmgrpc.SyncType sync_type",
      "5 uint32 num_gcds", "6 uint32 num_ipulink_segments", "7 bool reconfigurable",
      "8 virmgrpc.GatewayRoutingType gw_routing_type", "9 uint32 num_replicas", "10 string allocation_id"}},
    {"Partition",
     {"1 string id", "2 virmgrpc.PartitionSpec spec", "3 virmgrpc.PartitionReadyState ready_state",
      "4 string ipuof_server_version"}},
    {"ListPartitionsRequest", {"1 string allocation_id"}},
    {"ListPartitionsReply", {"1 repeated virmgrpc.Partition partitions"}},
    {"PartitionRequirements",
     {"1 string id", "2 uint32 size", "3 string cluster_id",
      "4 virmgrpc.IpuLinkRoutingType ipulink_routing_type", "5 uint32 num_ipulink_segments",
      "6 virmgrpc.GatewayRoutingType gw_routing_type", "7 virmgrpc.SyncType sync_type", "8 uint32 num_gcds",
      "9 bool reconfigurable", "10 uint32 num_replicas", "11 string allocation_id",
      "12 repeated virmgrpc.PartitionIpu ipus"}},
    {"CreatePartitionRequest",
     {"2 virmgrpc.PartitionRequirements requirements", "3 bool disable_auto_reset", "5 bool relocatable"}},
    {"CreatePartitionReply", {"1 string partition_id"}},
    {"IpuofDevice",
     {"1 string ip", "2 uint32 server_port", "3 uint32 rdma_port", "4 uint32 device_id",
      "5 uint32 ipulink_segment_id", "6 uint32 routing_id", "7 uint32 ipu_arch_id", "8 uint32 ipu_id",
      "9 string chip_id", "10 string gwsw_version", "11 string ipum_sw_version"}},
    {"PartitionConfig",
     {"2 virmgrpc.IpuLinkRoutingType ipulink_routing_type", "3 virmgrpc.SyncType sync_type",
      "5 bool reconfigurable", "6 virmgrpc.GatewayRoutingType gw_routing_type",
      "7 uint32 num_ipulink_segments", "8 repeated virmgrpc.PartitionConfig.Gcd gcd_configs",
      "9 string ipuof_server_version"}},
    {"PartitionConfig.Gcd", {"2 repeated virmgrpc.IpuofDevice devices", "3 map<string, string> attributes"}},
    {"ResetPartitionRequest", {"1 string partition_id", "2 bool relocatable"}},
    {"ResetPartitionReply", {}},
    {"RemovePartitionRequest", {"1 string partition_id", "2 bool force"}},
    {"RemovePartitionReply", {}},
    {"GetPartitionIpuofConfigRequest",
     {"1 string partition_id", "2 virmgrpc.GetPartitionIpuofConfigRequest.GcdID gcd_id"}},
    {"GetPartitionIpuofConfigRequest.GcdID", {"1 uint32 id"}},
    {"GetPartitionIpuofConfigReply", {"1 virmgrpc.PartitionConfig ipuof_config"}},
    {"PartitionStatus",
     {"1 string partition_id", "2 virmgrpc.PartitionReadyState ready_state",
      "3 virmgrpc.PartitionOperationState operation_state", "4 repeated string errors",
      "5 uint32 max_auto_reset_retries", "6 uint32 auto_reset_retry_count",
      "7 google.protobuf.Timestamp last_auto_reset_time"}},
    {"GetPartitionStatusRequest", {"1 string partition_id"}},
    {"GetPartitionStatusReply", {"1 virmgrpc.PartitionStatus status"}},
    {"AllocationSpec", {"1 string cluster_id", "2 repeated string agent_ids"}},
    {"Allocation", {"1 string id", "2 virmgrpc.AllocationSpec spec"}},
    {"ListIPUAttributesRequest", {"1 repeated string agents"}},
    {"ListIPUAttributesReply", {"1 repeated virmgrpc.ListIPUAttributesReply.Entry entries"}},
    {"ListIPUAttributesReply.Entry",
     {"1 string agent", "2 map<uint32, virmgrpc.ListIPUAttributesReply.Entry.Attributes> ipu_attributes"}},
    {"ListIPUAttributesReply.Entry.Attributes", {"1 map<string, string> attributes"}},
};

const std::map<std::string, std::map<std::string, int>> kEnums{
    {"IpuLinkRoutingType",
     {{"IRT_UNDEFINED", 0}, {"IRT_DNC", 1}, {"IRT_SWNC", 2}, {"IRT_BTNC", 3}, {"IRT_RINGSWNC", 4}}},
    {"GatewayRoutingType", {{"GRT_UNDEFINED", 0}, {"GRT_RING", 2}, {"GRT_SWRING", 3}}},
    {"SyncType",
     {{"ST_UNDEFINED", 0},
      {"ST_GS2_DEFAULT", 1},
      {"ST_GS2_INDEPENDENT_RAILS", 2},
      {"ST_POD_NATIVE_DEFAULT", 3},
      {"ST_POD_NATIVE_REPLICATED_PIPELINE", 4}}},
    {"PartitionReadyState",
     {{"PS_UNDEFINED", 0}, {"PS_PENDING", 1}, {"PS_ACTIVE", 2}, {"PS_REMOVED", 3}, {"PS_ERROR", 4}}},
    {"PartitionOperationState",
     {{"POS_UNDEFINED", 0},
      {"POS_IDLE", 1},
      {"POS_CREATING", 2},
      {"POS_REMOVING", 3},
      {"POS_RESETTING", 4},
      {"POS_FAILED", 5}}},
};

// method: request -> reply
const std::map<std::string, std::string> kCalls{
    {"virmgrpc.VersionService.GetVersion", "virmgrpc.VersionRequest -> virmgrpc.VersionReply"},
    {"virmgrpc.UserService.ListPartitions", "virmgrpc.ListPartitionsRequest -> virmgrpc.ListPartitionsReply"},
    {"virmgrpc.UserService.ListIPUAttributes",
     "virmgrpc.ListIPUAttributesRequest -> virmgrpc.ListIPUAttributesReply"},
    {"virmgrpc.UserService.CreatePartition",
     "virmgrpc.CreatePartitionRequest -> virmgrpc.CreatePartitionReply"},
    {"virmgrpc.UserService.RemovePartition",
     "virmgrpc.RemovePartitionRequest -> virmgrpc.RemovePartitionReply"},
    {"virmgrpc.UserService.ResetPartition", "virmgrpc.ResetPartitionRequest -> virmgrpc.ResetPartitionReply"},
    {"virmgrpc.UserService.GetPartitionIpuofConfig",
     "virmgrpc.GetPartitionIpuofConfigRequest -> virmgrpc.GetPartitionIpuofConfigReply"},
    {"virmgrpc.UserService.GetPartitionStatus",
     "virmgrpc.GetPartitionStatusRequest -> virmgrpc.GetPartitionStatusReply"},
};

std::vector<const FileDescriptor*> files() {
  return {virmgrpc::VersionReply::descriptor()->file(), virmgrpc::Partition::descriptor()->file()};
}

std::string typeOf(const FieldDescriptor& field) {
  if (field.is_map())
    return "map<" + typeOf(*field.message_type()->map_key()) + ", " +
           typeOf(*field.message_type()->map_value()) + '>';
  if (field.message_type()) return field.message_type()->full_name();
  if (field.enum_type()) return field.enum_type()->full_name();
  return field.type_name();
}

std::string lineOf(const FieldDescriptor& field) {
  const std::string label = field.is_repeated() && !field.is_map() ? "repeated " : "";
  return std::to_string(field.number()) + ' ' + label + typeOf(field) + ' ' + field.name();
}

void addMessage(const Descriptor& message, std::map<std::string, Lines>& found) {
  if (message.options().map_entry()) return;
  Lines& lines = found[message.full_name().substr(std::string("virmgrpc.").size())];
  for (int i = 0; i < message.field_count(); ++i) lines.insert(lineOf(*message.field(i)));
  for (int i = 0; i < message.nested_type_count(); ++i) addMessage(*message.nested_type(i), found);
}

TEST(VirmgrpcNumbers, MessagesHaveVIpusFields) {
  std::map<std::string, Lines> found;
  for (const FileDescriptor* const file : files()) {
    EXPECT_EQ(file->package(), "virmgrpc");
    for (int i = 0; i < file->message_type_count(); ++i) addMessage(*file->message_type(i), found);
  }
  for (const auto& [name, lines] : kMessages) EXPECT_EQ(found[name], lines) << name;
  EXPECT_EQ(found.size(), kMessages.size());
}

TEST(VirmgrpcNumbers, EnumsHaveVIpusValues) {
  std::map<std::string, std::map<std::string, int>> found;
  for (const FileDescriptor* const file : files()) {
    for (int i = 0; i < file->enum_type_count(); ++i) {
      const EnumDescriptor& type = *file->enum_type(i);
      for (int value = 0; value < type.value_count(); ++value)
        found[type.name()][type.value(value)->name()] = type.value(value)->number();
    }
  }
  EXPECT_EQ(found, kEnums);
}

TEST(VirmgrpcNumbers, ServicesHaveVIpusUnaryCalls) {
  std::map<std::string, std::string> found;
  for (const FileDescriptor* const file : files()) {
    for (int service = 0; service < file->service_count(); ++service) {
      for (int i = 0; i < file->service(service)->method_count(); ++i) {
        const auto& method = *file->service(service)->method(i);
        EXPECT_FALSE(method.client_streaming() || method.server_streaming()) << method.full_name();
        found[method.full_name()] =
            method.input_type()->full_name() + " -> " + method.output_type()->full_name();
      }
    }
  }
  EXPECT_EQ(found, kCalls);
}

TEST(VirmgrpcNumbers, NumbersThatVIpuDoesNotUseAreReserved) {
  const auto reserved = [](const Descriptor* message, int number) {
    return message->IsReservedNumber(number);
  };
  EXPECT_TRUE(reserved(virmgrpc::CreatePartitionRequest::descriptor(), 1));
  EXPECT_TRUE(reserved(virmgrpc::CreatePartitionRequest::descriptor(), 4));
  EXPECT_TRUE(reserved(virmgrpc::PartitionConfig::descriptor(), 1));
  EXPECT_TRUE(reserved(virmgrpc::PartitionConfig::descriptor(), 4));
  EXPECT_TRUE(reserved(virmgrpc::PartitionConfig::Gcd::descriptor(), 1));
  EXPECT_TRUE(virmgrpc::GatewayRoutingType_descriptor()->IsReservedNumber(1));
}

}  // namespace
