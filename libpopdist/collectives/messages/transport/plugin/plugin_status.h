// SPDX-License-Identifier: Apache-2.0
// Converts a plugin's result to a status. Its text may be any bytes.
#pragma once

#include <cstring>
#include <string>

#include "common/base/status.h"
#include "popdist/backend_plugin.hpp"

namespace popdist::transport {

inline pop::Status statusOf(const PopdistStatus& status) {
  if (status.code == 0) return {};
  const bool known = status.code > 0 && status.code <= static_cast<std::int32_t>(pop::Code::kDataLoss);
  return {known ? static_cast<pop::Code>(status.code) : pop::Code::kUnknown,
          std::string(status.message, ::strnlen(status.message, sizeof(status.message)))};
}

}  // namespace popdist::transport
