// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/runner_directories.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "common/base/text.h"
#include "common/sys/name_file.h"

namespace pop::agent {
namespace {

constexpr mode_t kOwnerOnly = 0700;
// Users reach their own directories, and cannot see whose others there are.
constexpr mode_t kForPassingThrough = 0711;

constexpr std::size_t kLongestClusterId = 64;

bool isClusterId(const std::string& id) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !id.empty() && id.size() <= kLongestClusterId && std::all_of(id.begin(), id.end(), is_fine);
}

Status checkOwn(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return errnoStatus("looking at " + path, errno);
  if (!S_ISDIR(status.st_mode)) return failedPrecondition(path + " is not a directory: move it away");
  if (status.st_uid != ::geteuid())
    return {Code::kPermissionDenied, path + " belongs to user " + std::to_string(status.st_uid) +
                                         ", not to the agent service: give another directory with --state"};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return {Code::kPermissionDenied, path + " can be written by others: chmod go-w it"};
  return {};
}

// Ours, for nobody else to write; through root's, users pass.
Status makeOwn(const std::string& path) {
  const mode_t mode = ::geteuid() == 0 ? kForPassingThrough : kOwnerOnly;
  if (::mkdir(path.c_str(), mode) != 0) {
    const int error = errno;
    if (error != EEXIST) return errnoStatus("making " + path, error);
    return checkOwn(path);
  }
  if (::chmod(path.c_str(), mode) != 0) return errnoStatus("making " + path, errno);  // whatever the umask is
  return {};
}

// "12.1"; as textOf() writes it, and in no other way.
std::optional<RunnerId> parseId(const std::string& cluster, const std::string& name) {
  const std::vector<std::string> parts = split(name, '.');
  if (parts.size() != 2) return std::nullopt;
  const Result<std::int64_t> job = parseInteger(parts[0]);
  const Result<std::int64_t> attempt = parseInteger(parts[1]);
  if (!job.ok() || !attempt.ok() || attempt.value() < 0 ||
      attempt.value() > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  RunnerId id{cluster, job.value(), static_cast<std::int32_t>(attempt.value())};
  return textOf(id) == name ? std::optional(std::move(id)) : std::nullopt;
}

Status replace(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  {
    const sys::Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) return errnoStatus("writing " + temporary, errno);
    if (Status written = sys::writeAll(file.get(), text); !written.ok())
      return std::move(written).during("writing " + temporary);
    if (::fsync(file.get()) != 0) return errnoStatus("writing " + temporary, errno);
  }
  const int error = sys::nameFile(temporary, path, true);
  return error == 0 ? Status() : errnoStatus("writing " + path, error);
}

}  // namespace

std::string textOf(const RunnerId& id) {
  return std::to_string(id.job) + '.' + std::to_string(id.attempt);
}

std::string defaultState(const UnixUser& self) {
  return self.uid == 0 ? "/var/lib/popdist" : self.home + "/.local/state/popdist";
}

Status RunnerDirectories::prepare() const {
  if (!state_.starts_with('/')) return invalidArgument("--state " + state_ + " is not an absolute path");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(state_).parent_path(), error);
  if (error) return errnoStatus("making the directory of --state " + state_, error.value());
  POP_RETURN_IF_ERROR(makeOwn(state_));
  return makeOwn(state_ + "/jobs");
}

Result<sys::Fd> RunnerDirectories::take() const {
  const std::string path = state_ + "/lock";
  sys::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return errnoStatus("opening " + path, errno);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES)
    return Status(Code::kAlreadyExists, "another popdist-agent serve has the directory " + state_ +
                                            ": end it, or give another one with --state");
  return errnoStatus("locking " + path, errno);
}

Result<std::string> RunnerDirectories::cluster() const {
  const Result<std::string> text = sys::readFile(state_ + "/cluster");
  if (text.code() == Code::kNotFound) return std::string();
  if (!text.ok()) return text.status();
  std::string id(trimmed(text.value().substr(0, text.value().find('\n'))));
  if (isClusterId(id)) return id;
  return Status(Code::kDataLoss,
                state_ +
                    "/cluster does not name a cluster: remove it, and what runs in another name's jobs is "
                    "no more known here");
}

Result<std::uint64_t> RunnerDirectories::epoch() const {
  const Result<std::string> text = sys::readFile(state_ + "/cluster");
  if (text.code() == Code::kNotFound) return std::uint64_t{0};
  if (!text.ok()) return text.status();
  const std::vector<std::string> lines = split(text.value(), '\n');
  if (lines.size() < 2 || lines[1].empty()) return std::uint64_t{0};  // of an older version
  const Result<std::int64_t> epoch = parseInteger(lines[1]);
  if (epoch.ok() && epoch.value() >= 0) return static_cast<std::uint64_t>(epoch.value());
  return Status(Code::kDataLoss, state_ + "/cluster has no epoch in its second line: remove that line");
}

Status RunnerDirectories::enter(const std::string& cluster, std::uint64_t epoch) const {
  if (!isClusterId(cluster))
    return invalidArgument("popdistd calls its cluster " + inQuotes(cluster.substr(0, kLongestClusterId)) +
                           ", which cannot be the name of a directory");
  POP_RETURN_IF_ERROR(makeOwn(directoryOf(cluster)));
  const Result<std::string> last = this->cluster();
  const Result<std::uint64_t> last_epoch = this->epoch();
  if (last.ok() && last.value() == cluster && last_epoch.ok() && last_epoch.value() == epoch) return {};
  return replace(state_ + "/cluster", cluster + '\n' + std::to_string(epoch) + '\n');
}

std::string RunnerDirectories::pathOf(const RunnerId& id) const {
  return directoryOf(id.cluster) + '/' + textOf(id);
}

Status RunnerDirectories::create(const RunnerId& id, const UnixUser& user) const {
  const std::string path = pathOf(id);
  if (ownerOf(id).code() != Code::kNotFound)
    return {Code::kAlreadyExists, path + " is there already: this attempt was started before"};
  // A service that is killed meanwhile leaves no job's directory that is root's, where root's processes would
  // be sent.
  const std::string made = directoryOf(id.cluster) + "/new";
  ::rmdir(made.c_str());
  if (::mkdir(made.c_str(), kOwnerOnly) != 0) return errnoStatus("making " + made, errno);
  Status given;
  if (user.uid != ::geteuid() && ::chown(made.c_str(), user.uid, user.gid) != 0)
    given = errnoStatus("giving " + path + " to " + user.name, errno);
  if (given.ok() && ::rename(made.c_str(), path.c_str()) == 0) return {};
  if (given.ok()) given = errnoStatus("making " + path, errno);
  ::rmdir(made.c_str());
  return given;
}

Result<std::vector<RunnerId>> RunnerDirectories::list(const std::string& cluster) const {
  std::vector<RunnerId> ids;
  if (cluster.empty()) return ids;
  std::error_code error;
  std::filesystem::directory_iterator entry(directoryOf(cluster), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (std::optional<RunnerId> id = parseId(cluster, entry->path().filename().native()))
      ids.push_back(std::move(*id));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return errnoStatus("listing " + directoryOf(cluster), error.value());
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<uid_t> RunnerDirectories::ownerOf(const RunnerId& id) const {
  struct stat status {};
  if (::lstat(pathOf(id).c_str(), &status) == 0) return status.st_uid;
  if (errno == ENOENT)
    return Status(Code::kNotFound, "there are no records of job " + textOf(id) + " on this host");
  return errnoStatus("looking at " + pathOf(id), errno);
}

Status RunnerDirectories::remove(const RunnerId& id) const {
  if (::rmdir(pathOf(id).c_str()) == 0 || errno == ENOENT) return {};
  return errnoStatus("removing " + pathOf(id), errno);
}

}  // namespace pop::agent
