// SPDX-License-Identifier: Apache-2.0
#include "common/base/status.h"

#include <cerrno>
#include <system_error>

namespace pop {
namespace {

Code codeForErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
      return Code::kPermissionDenied;
    case EAGAIN:  // of a limit on processes
    case ENOBUFS:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    case EINVAL:
      return Code::kInvalidArgument;
    case EPIPE:
    case ECONNRESET:
    case ECONNREFUSED:
      return Code::kUnavailable;
    default:
      return Code::kUnknown;
  }
}

}  // namespace

Status errnoStatus(std::string_view what, int error_number) {
  return {codeForErrno(error_number),
          std::string(what) + ": " + std::generic_category().message(error_number)};
}

}  // namespace pop
