// SPDX-License-Identifier: Apache-2.0
#include "runner/program/job_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/base/text.h"
#include "common/sys/fd.h"

namespace pop::runner {
namespace {

// The service has made the directory empty: whatever has the name already is a mistake.
Status writeNew(const std::string& path, const std::string& text) {
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return errnoStatus("making " + path, errno);
  const Status written = sys::writeAll(file.get(), text);
  return written.ok() ? written : Status(written.code(), "writing " + path + ": " + written.message());
}

// It becomes part of a file's name.
bool isFileName(const std::string& user) {
  return !user.empty() && user.find('/') == std::string::npos && user.find('\0') == std::string::npos;
}

}  // namespace

Status checkPlace(const std::string& directory) {
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0) return errnoStatus("looking at " + directory, errno);
  if (!S_ISDIR(status.st_mode)) return failedPrecondition(directory + " is not a directory");
  if (status.st_uid != ::geteuid())
    return {Code::kPermissionDenied, directory + " belongs to user " + std::to_string(status.st_uid) +
                                         ", and the job to user " + std::to_string(::geteuid())};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return failedPrecondition("others may write to " + directory + ": it needs mode 0700");
  return {};
}

bool hasJob(const std::string& directory) {
  struct stat status {};
  return ::lstat((directory + "/spec").c_str(), &status) == 0;
}

Status emptyPlace(const std::string& directory) {
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  while (!error && entry != std::filesystem::directory_iterator()) {
    const std::filesystem::path path = entry->path();
    entry.increment(error);
    if (!error) std::filesystem::remove_all(path, error);
    if (error) return errnoStatus("removing " + path.string(), error.value());
  }
  if (error) return errnoStatus("listing " + directory, error.value());
  return {};
}

Result<std::string> writeCredentials(const std::string& directory, const std::string& user,
                                     const ::popdist::v1::JobCredentials& credentials) {
  if (!isFileName(user))
    return invalidArgument("the job's certificate is of a user " + inQuotes(user) +
                           ", which cannot be a file's name");
  std::string tls = directory + "/tls";
  if (::mkdir(tls.c_str(), S_IRWXU) != 0) return errnoStatus("making " + tls, errno);
  const std::string pair = tls + "/user-" + user;
  POP_RETURN_IF_ERROR(writeNew(tls + "/ca.pem", credentials.authority_pem()));
  POP_RETURN_IF_ERROR(writeNew(pair + ".pem", credentials.certificate_pem()));
  POP_RETURN_IF_ERROR(writeNew(pair + "-key.pem", credentials.key_pem()));
  return tls;
}

void removeCredentials(const std::string& tls) {
  std::error_code ignored;
  std::filesystem::remove_all(tls, ignored);
}

}  // namespace pop::runner
