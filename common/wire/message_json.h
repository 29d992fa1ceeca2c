// SPDX-License-Identifier: Apache-2.0
// Messages as JSON, by their descriptors: field names as in the .proto, fields at their defaults printed.
// From any thread.
#pragma once

#include <string>

#include "common/base/status.h"

namespace google::protobuf {
class MessageLite;
}

namespace pop::wire {

/// kInternal: a value has no JSON, such as a time after the year 9999.
Result<std::string> toJson(const google::protobuf::MessageLite& message);

/// kInvalidArgument names the field that is unknown, or whose value cannot be.
Status fromJson(const std::string& json, google::protobuf::MessageLite& message);

}  // namespace pop::wire
