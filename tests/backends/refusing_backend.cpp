// SPDX-License-Identifier: Apache-2.0
// A backend whose rank 1 can never be reached.
#include "popdist/backend_plugin.hpp"

namespace {

constexpr std::int32_t kPermissionDenied = 7;  // a code that nothing else here comes with

void offer(const PopdistGroupInfo* info, void** group, char*, std::size_t* address_bytes,
           PopdistStatus* status) {
  *group = nullptr;
  *address_bytes = 0;
  *status = {};
  if (info->rank != 1) return;
  *status = {kPermissionDenied, "no door is open"};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const PopdistBackend* popdistBackend(std::uint32_t) {
  static const PopdistBackend backend{.version = kPopdistBackendVersion, .name = "refusing", .offer = offer};
  return &backend;
}
