// SPDX-License-Identifier: Apache-2.0
#include "pod/chakra/execution_trace.h"

#include "common/base/text.h"
#include "proto/chakra/execution_trace.pb.h"

namespace pop::pod::chakra {
namespace {

using ::chakra::Attribute;
using ::chakra::Node;

constexpr std::string_view kVersion = "0.0.4";
constexpr std::uint64_t kMostMicroseconds =
    1'000'000'000'000;  // eleven days: picoseconds hold the sum of some
constexpr std::uint32_t kMostElementBytes = 16;

// The message at the beginning of `bytes`, which then begin after it.
template <typename Message>
Result<Message> takeMessage(std::string_view& bytes) {
  std::uint64_t length = 0;
  std::size_t at = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (at == bytes.size()) return invalidArgument("the file ends within the length of a message");
    if (shift > 28) return invalidArgument("a message that is too long");
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  if (length > bytes.size() - at)
    return invalidArgument("a message of " + counted(static_cast<std::int64_t>(length), "byte") +
                           ", and the file ends after " + std::to_string(bytes.size() - at));
  Message message;
  if (!message.ParseFromArray(bytes.data() + at, static_cast<int>(length)))
    return invalidArgument("a message that is no protocol buffer of Chakra's");
  bytes.remove_prefix(at + length);
  return message;
}

const Attribute* attributeOf(const Node& node, std::string_view name) {
  for (const Attribute& each : node.attr())
    if (each.name() == name) return &each;
  return nullptr;
}

// Writers differ in the type of whole numbers.
Result<std::uint64_t> wholeNumber(const Attribute& attribute) {
  const auto unlessNegative = [&](std::int64_t value) -> Result<std::uint64_t> {
    if (value >= 0) return static_cast<std::uint64_t>(value);
    return invalidArgument(attribute.name() + " is negative");
  };
  switch (attribute.value_case()) {
    case Attribute::kUint64Val:
      return attribute.uint64_val();
    case Attribute::kUint32Val:
      return std::uint64_t{attribute.uint32_val()};
    case Attribute::kInt64Val:
      return unlessNegative(attribute.int64_val());
    case Attribute::kInt32Val:
      return unlessNegative(attribute.int32_val());
    default:
      return invalidArgument(attribute.name() + " is no whole number");
  }
}

Result<std::uint64_t> neededNumber(const Node& node, std::string_view name) {
  const Attribute* attribute = attributeOf(node, name);
  if (attribute == nullptr) return invalidArgument("it has no " + std::string(name));
  return wholeNumber(*attribute);
}

Result<CollectiveKind> kindOf(std::uint64_t type) {
  switch (type) {
    case ::chakra::ALL_REDUCE:
      return CollectiveKind::kAllReduce;
    case ::chakra::ALL_GATHER:
      return CollectiveKind::kAllGather;
    case ::chakra::REDUCE_SCATTER:
      return CollectiveKind::kReduceScatter;
    case ::chakra::ALL_TO_ALL:
      return CollectiveKind::kAllToAll;
    default:
      break;
  }
  const bool is_known = type <= ::chakra::CollectiveCommType_MAX;
  return invalidArgument(
      "comm_type " +
      (is_known ? ::chakra::CollectiveCommType_Name(static_cast<int>(type)) : std::to_string(type)) +
      " is not simulated: ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER and ALL_TO_ALL are");
}

std::int64_t typeOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return ::chakra::ALL_REDUCE;
    case CollectiveKind::kAllGather:
      return ::chakra::ALL_GATHER;
    case CollectiveKind::kAllToAll:
      return ::chakra::ALL_TO_ALL;
    default:
      return ::chakra::REDUCE_SCATTER;
  }
}

// All replicas take part in what is simulated; "0" is PyTorch's group of all.
Status checkGroup(const Node& node) {
  const Attribute* group = attributeOf(node, "pg_name");
  if (group != nullptr && group->value_case() != Attribute::kStringVal)
    return invalidArgument("pg_name is no text");
  if (group != nullptr && !group->string_val().empty() && group->string_val() != "0")
    return invalidArgument("it is for the group of ranks " + inQuotes(group->string_val()) +
                           ", and collectives of all ranks are simulated");
  const Attribute* dimensions = attributeOf(node, "involved_dim");
  if (dimensions == nullptr) return {};
  if (dimensions->value_case() != Attribute::kBoolList)
    return invalidArgument("involved_dim is no list of bool");
  for (const bool is_involved : dimensions->bool_list().values())
    if (!is_involved)
      return invalidArgument("involved_dim leaves ranks out, and collectives of all ranks are simulated");
  return {};
}

Result<TracedCollective> collectiveOf(const Node& node) {
  TracedCollective collective;
  POP_ASSIGN_OR_RETURN(const std::uint64_t type, neededNumber(node, "comm_type"));
  POP_ASSIGN_OR_RETURN(collective.kind, kindOf(type));
  POP_ASSIGN_OR_RETURN(collective.bytes, neededNumber(node, "comm_size"));
  if (collective.bytes == 0 || collective.bytes > kMostTracedBytes)
    return invalidArgument("a comm_size of " + std::to_string(collective.bytes) + ": it must be from 1 to " +
                           std::to_string(kMostTracedBytes) + " bytes");
  if (const Attribute* element = attributeOf(node, "element_bytes")) {
    POP_ASSIGN_OR_RETURN(const std::uint64_t bytes, wholeNumber(*element));
    if (bytes == 0 || bytes > kMostElementBytes)
      return invalidArgument("element_bytes is " + std::to_string(bytes) + ": it must be from 1 to " +
                             std::to_string(kMostElementBytes));
    collective.element_bytes = static_cast<std::uint32_t>(bytes);
  }
  POP_RETURN_IF_ERROR(checkGroup(node));
  return collective;
}

Status checkComputation(const Node& node) {
  if (node.duration_micros() > kMostMicroseconds)
    return invalidArgument("a duration of " + std::to_string(node.duration_micros()) + " us: at most " +
                           std::to_string(kMostMicroseconds) + " can be simulated");
  if (node.duration_micros() == 0 && attributeOf(node, "num_ops") != nullptr)
    return invalidArgument("it has num_ops and no duration_micros, and durations are replayed: record them");
  return {};
}

Result<TraceNode> traceNode(const Node& node) {
  TraceNode read{.id = node.id(), .name = node.name()};
  read.dependencies.assign(node.ctrl_deps().begin(), node.ctrl_deps().end());
  read.dependencies.insert(read.dependencies.end(), node.data_deps().begin(), node.data_deps().end());
  const Attribute* on_cpu = attributeOf(node, "is_cpu_op");
  if (on_cpu != nullptr && on_cpu->value_case() != Attribute::kBoolVal)
    return invalidArgument("is_cpu_op is no bool");
  if (on_cpu != nullptr && on_cpu->bool_val())
    return invalidArgument("it runs on a host's CPU (is_cpu_op), which is not simulated");
  switch (node.type()) {
    case ::chakra::METADATA_NODE:
      return read;
    case ::chakra::COMP_NODE:
      POP_RETURN_IF_ERROR(checkComputation(node));
      read.duration = std::chrono::microseconds(node.duration_micros());
      return read;
    case ::chakra::COMM_COLL_NODE: {
      POP_ASSIGN_OR_RETURN(read.collective, collectiveOf(node));
      return read;
    }
    default:
      break;
  }
  const std::string name = ::chakra::NodeType_IsValid(node.type()) ? ::chakra::NodeType_Name(node.type())
                                                                   : std::to_string(node.type());
  return invalidArgument("nodes of type " + name + " are not simulated: COMP_NODE and COMM_COLL_NODE are");
}

Status checkMetadata(std::string_view& bytes) {
  POP_ASSIGN_OR_RETURN(const ::chakra::GlobalMetadata metadata, takeMessage<::chakra::GlobalMetadata>(bytes));
  if (metadata.version().empty() || metadata.version().ends_with(kVersion)) return {};
  return invalidArgument("version " + inQuotes(metadata.version()) +
                         " of Chakra's schema: " + std::string(kVersion) + " is known");
}

template <typename Message>
void append(std::string& bytes, const Message& message) {
  std::size_t length = message.ByteSizeLong();
  for (; length >= 0x80; length >>= 7) bytes += static_cast<char>((length & 0x7fU) | 0x80U);
  bytes += static_cast<char>(length);
  message.AppendToString(&bytes);
}

Attribute& addAttribute(Node& node, const std::string& name) {
  Attribute& attribute = *node.add_attr();
  attribute.set_name(name);
  return attribute;
}

Node messageOf(const TraceNode& each) {
  Node node;
  node.set_id(each.id);
  node.set_name(each.name);
  node.set_duration_micros(static_cast<std::uint64_t>(each.duration.count()));
  node.mutable_data_deps()->Add(each.dependencies.begin(), each.dependencies.end());
  node.set_type(each.collective ? ::chakra::COMM_COLL_NODE : ::chakra::COMP_NODE);
  addAttribute(node, "is_cpu_op").set_bool_val(false);
  if (!each.collective) return node;
  addAttribute(node, "comm_type").set_int64_val(typeOf(each.collective->kind));
  addAttribute(node, "comm_size").set_uint64_val(each.collective->bytes);
  addAttribute(node, "element_bytes").set_uint32_val(each.collective->element_bytes);
  return node;
}

}  // namespace

std::string inWords(const TraceNode& node) {
  return "node " + std::to_string(node.id) + ", " + inQuotes(bounded(node.name));
}

Result<std::vector<TraceNode>> readExecutionTrace(std::string_view bytes, std::string_view file) {
  const auto wrong = [file](const std::string& cause) {
    return invalidArgument(std::string(file) + ": " + cause);
  };
  const Status metadata = checkMetadata(bytes);
  if (!metadata.ok()) return wrong(metadata.message());
  std::vector<TraceNode> nodes;
  while (!bytes.empty()) {
    const Result<Node> message = takeMessage<Node>(bytes);
    if (!message.ok())
      return wrong("after " + counted(static_cast<std::int64_t>(nodes.size()), "node") + ": " +
                   message.status().message());
    Result<TraceNode> node = traceNode(message.value());
    if (!node.ok())
      return wrong(inWords({.id = message.value().id(), .name = message.value().name()}) + ": " +
                   node.status().message());
    nodes.push_back(std::move(*node));
  }
  if (nodes.empty()) return wrong("it has no nodes");
  return nodes;
}

std::string executionTrace(std::span<const TraceNode> nodes) {
  ::chakra::GlobalMetadata metadata;
  metadata.set_version(std::string(kVersion));
  std::string bytes;
  append(bytes, metadata);
  for (const TraceNode& each : nodes) append(bytes, messageOf(each));
  return bytes;
}

}  // namespace pop::pod::chakra
