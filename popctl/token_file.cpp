// SPDX-License-Identifier: Apache-2.0
#include "popctl/token_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/text.h"
#include "common/os/place.h"
#include "common/sys/fd.h"

namespace pop::popctl {
namespace {

constexpr off_t kLongestBytes = 4096;

Status checkFile(const sys::Fd& file) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errnoStatus("looking at it", errno);
  if (!S_ISREG(status.st_mode)) return failedPrecondition("it is not a file");
  if (status.st_uid != ::geteuid())
    return {Code::kPermissionDenied, "it belongs to user " + std::to_string(status.st_uid)};
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return {Code::kPermissionDenied, "others can read it: chmod 600, and make a new token"};
  if (status.st_size > kLongestBytes) return failedPrecondition("it is too long for a token");
  return {};
}

}  // namespace

Result<std::string> readTokenFile(const std::string& option, const std::string& path) {
  const auto wrong = [&](const Status& why) {
    return Status(why.code(), option + ' ' + path + ": " + why.message());
  };
  const Result<sys::Fd> file = sys::openFile(path);
  if (!file.ok()) return wrong(file.status());
  if (const Status fits = checkFile(file.value()); !fits.ok()) return wrong(fits);
  const Result<std::string> text = sys::readAll(file.value(), path);
  if (!text.ok()) return wrong(text.status());
  const std::size_t end = text.value().find('\n');
  std::string token(trimmed(text.value().substr(0, end)));
  if (!token.starts_with("pop_") || printable(token) != token || token.find(' ') != std::string::npos)
    return wrong(invalidArgument("its first line is not a token, which begins with pop_"));
  return token;
}

Status checkSendsToken(const std::string& address, bool has_tls) {
  const std::string host = address.substr(0, address.rfind(':'));
  const bool bracketed = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (has_tls || address.starts_with("unix:") ||
      os::isLoopback(bracketed ? host.substr(1, host.size() - 2) : host))
    return {};
  return failedPrecondition("without TLS others could read the token on its way to " + address +
                            ": give --tls a directory with the authority's ca.pem");
}

}  // namespace pop::popctl
