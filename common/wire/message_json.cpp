// SPDX-License-Identifier: Apache-2.0
#include "common/wire/message_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <memory>

#include "common/base/text.h"
#include "proto/descriptors.h"

namespace pop::wire {
namespace {

using google::protobuf::util::TypeResolver;

constexpr const char* kTypes = "type.googleapis.com";

TypeResolver& types() {
  static const std::unique_ptr<TypeResolver> resolver = [] {
    proto::registerDescriptors();
    return std::unique_ptr<TypeResolver>(google::protobuf::util::NewTypeResolverForDescriptorPool(
        kTypes, google::protobuf::DescriptorPool::generated_pool()));
  }();
  return *resolver;
}

std::string typeOf(const google::protobuf::MessageLite& message) {
  return std::string(kTypes) + '/' + message.GetTypeName();
}

}  // namespace

Result<std::string> toJson(const google::protobuf::MessageLite& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto done = google::protobuf::util::BinaryToJsonString(&types(), typeOf(message),
                                                               message.SerializeAsString(), &json, options);
  if (!done.ok()) return internalError("the answer has no JSON: " + printable(done.message().as_string()));
  return json;
}

Status fromJson(const std::string& json, google::protobuf::MessageLite& message) {
  std::string bytes;
  const auto done = google::protobuf::util::JsonToBinaryString(&types(), typeOf(message), json, &bytes);
  if (!done.ok()) return invalidArgument("the JSON is wrong: " + printable(done.message().as_string()));
  if (!message.ParseFromString(bytes)) return invalidArgument("the JSON is wrong: a text is not UTF-8");
  return {};
}

}  // namespace pop::wire
