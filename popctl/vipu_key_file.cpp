// SPDX-License-Identifier: Apache-2.0
#include "popctl/vipu_key_file.h"

#include "common/sys/host_name.h"
#include "runner/store/whole_file.h"

namespace pop::popctl {
namespace {

// By the local socket, the server is this machine.
std::string placeLines(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool is_local = address.starts_with("unix:");
  const std::string host = is_local ? sys::hostName() : address.substr(0, colon);
  const std::string port = is_local ? "8090" : address.substr(colon + 1);
  return "api-host=\"" + host + "\"\napi-port=\"" + port + "\"\n";
}

}  // namespace

Result<std::string> writeVipuKeyFile(const ::popdist::v1::CreateUserReply& reply,
                                     const std::string& address) {
  const std::string name = reply.api_user_id() + ".vipu-cli.hcl";
  POP_RETURN_IF_ERROR(runner::replaceFile(".", name,
                                          placeLines(address) + "api-user-id=\"" + reply.api_user_id() +
                                              "\"\napi-access-key=\"" + reply.api_access_key() + "\"\n"));
  return name;
}

}  // namespace pop::popctl
