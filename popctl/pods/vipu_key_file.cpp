// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/vipu_key_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/sys/host_name.h"
#include "common/sys/whole_file.h"

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

std::string fileOf(const std::string& user) {
  return user + ".vipu-cli.hcl";
}

}  // namespace

Status checkVipuKeyFile(const std::string& user) {
  const std::string name = fileOf(user);
  struct stat status {};
  if (::lstat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return failedPrecondition(name + ", the key's file, is there and is not a regular file: move it away");
  if (::access(".", W_OK) == 0) return {};
  return errnoStatus("the key's file " + name + " cannot be written here", errno);
}

Status checkKeyIsPrivate(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errnoStatus("looking at it", errno);
  const mode_t others = S_IRWXO | (status.st_uid == 0 ? 0U : S_IRWXG);
  if (!S_ISREG(status.st_mode) || (status.st_mode & others) == 0) return {};
  return {
      Code::kPermissionDenied,
      "others can read the key in it: chmod 600, and make a new one (popctl create user NAME --vipu-key)"};
}

Result<std::string> writeVipuKeyFile(const ::popdist::v1::CreateUserReply& reply,
                                     const std::string& address) {
  const std::string name = fileOf(reply.api_user_id());
  POP_RETURN_IF_ERROR(sys::replaceFile(".", name,
                                       placeLines(address) + "api-user-id=\"" + reply.api_user_id() +
                                           "\"\napi-access-key=\"" + reply.api_access_key() + "\"\n"));
  return name;
}

}  // namespace pop::popctl
