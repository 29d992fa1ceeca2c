// SPDX-License-Identifier: Apache-2.0
#include "common/tls/kept_sessions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/contract/frame.h"
#include "common/sys/fd.h"
#include "common/tls/digest.h"

namespace pop::tls {
namespace {

constexpr mode_t kBitsOfOthers = 077;
constexpr off_t kMaxFileBytes = 4 << 20;

// Longer than a live process takes to write such a file.
constexpr std::chrono::minutes kWritingTimeout{1};

// The file: a digest of the rest, then a frame for each session. A new format gets a new number.
constexpr std::uint8_t kSessionFrame = 1;

std::string directoryOf(const std::string& path) {
  return std::filesystem::path(path).parent_path();
}

bool isForUsOnly(const struct stat& file) {
  return file.st_uid == ::geteuid() && (file.st_mode & kBitsOfOthers) == 0;
}

bool isDirectoryForUsOnly(const std::string& path) {
  struct stat file {};
  return ::lstat(path.c_str(), &file) == 0 && S_ISDIR(file.st_mode) && isForUsOnly(file);
}

// Nothing if this user has no such file.
std::string contentOf(const std::string& path) {
  struct stat file {};
  if (path.empty() || !isDirectoryForUsOnly(directoryOf(path)) || ::lstat(path.c_str(), &file) != 0 ||
      !S_ISREG(file.st_mode) || !isForUsOnly(file) || file.st_size > kMaxFileBytes)
    return {};
  Result<std::string> content = sys::readFile(path);
  return content.ok() ? std::move(*content) : std::string();
}

contract::Frame frameOf(const KeptSession& session) {
  return {kSessionFrame,
          {session.certificates, session.service, std::to_string(session.from), std::to_string(session.until),
           session.secret}};
}

std::optional<KeptSession> sessionIn(const contract::Frame& frame) {
  if (frame.type != kSessionFrame || frame.fields.size() != 5) return std::nullopt;
  const Result<std::int64_t> from = parseInteger(frame.fields[2]);
  const Result<std::int64_t> until = parseInteger(frame.fields[3]);
  if (!from.ok() || !until.ok()) return std::nullopt;
  return KeptSession{frame.fields[0], frame.fields[1], from.value(), until.value(), frame.fields[4]};
}

// The longest existing part of the way to `path`.
std::string nearestOf(const std::string& path) {
  std::string nearest = path;
  while (::access(nearest.c_str(), F_OK) != 0 && nearest != "/") nearest = directoryOf(nearest);
  return nearest;
}

// Creates `path`, an absolute one, with its missing parents.
Status makeDirectories(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0) return {};
  POP_RETURN_IF_ERROR(makeDirectories(directoryOf(path)));
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return errnoStatus("making " + path, errno);
  return {};
}

// Root with a user's HOME (sudo) must not leave its own directories in there.
Status makeDirectory(const std::string& path) {
  const std::string nearest = nearestOf(path);
  struct stat file {};
  if (::stat(nearest.c_str(), &file) != 0 || file.st_uid != ::geteuid())
    return failedPrecondition(nearest + " belongs to another user: TLS sessions are not kept there");
  POP_RETURN_IF_ERROR(makeDirectories(path));
  if (isDirectoryForUsOnly(path)) return {};
  return failedPrecondition(path + " must be a directory for this user alone: remove it, or chmod 700 it");
}

// Temporary files of launchers that were killed while writing.
void removeLeftovers(const std::string& path) {
  namespace fs = std::filesystem;
  const auto recent = fs::file_time_type::clock::now() - kWritingTimeout;
  std::error_code error;
  for (fs::directory_iterator each(directoryOf(path), error), end; !error && each != end;
       each.increment(error)) {
    std::error_code gone;
    if (each->path().native().starts_with(path + '.') && each->last_write_time(gone) < recent)
      fs::remove(each->path(), gone);
  }
}

// No fsync: a file that a power failure leaves incomplete is damaged, which is treated as missing.
Status replace(const std::string& path, const std::string& content) {
  std::string temporary = path + ".XXXXXX";
  const sys::Fd file(::mkostemp(temporary.data(), O_CLOEXEC));  // for its owner only
  if (!file.valid()) return errnoStatus("making " + temporary, errno);
  Status status = sys::writeAll(file.get(), content);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = errnoStatus("renaming " + temporary, errno);
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace

std::string keptSessionsPath() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  constexpr const char* kFile = "/poprun/tls/sessions";
  if (cache != nullptr && *cache == '/') return std::string(cache) + kFile;
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache" + kFile;
  return {};
}

std::vector<KeptSession> readKeptSessions(const std::string& path, std::time_t now) {
  const std::string content = contentOf(path);
  if (content.size() < kDigestBytes) return {};
  const std::string_view frames = std::string_view(content).substr(kDigestBytes);
  if (!content.starts_with(digestOf({frames}))) return {};
  contract::FrameReader reader;
  reader.append(frames);
  std::vector<KeptSession> sessions;
  while (true) {
    const Result<std::optional<contract::Frame>> frame = reader.next();
    if (!frame.ok() || !frame.value()) return sessions;
    std::optional<KeptSession> session = sessionIn(*frame.value());
    if (session && session->holds(now)) sessions.push_back(std::move(*session));
  }
}

Status writeKeptSessions(const std::string& path, std::vector<KeptSession> sessions) {
  std::sort(sessions.begin(), sessions.end(),
            [](const KeptSession& a, const KeptSession& b) { return a.until > b.until; });
  sessions.resize(std::min(sessions.size(), kMaxKeptSessions));
  std::string frames;
  for (const KeptSession& session : sessions) {
    POP_ASSIGN_OR_RETURN(const std::string bytes, contract::encode(frameOf(session)));
    frames += bytes;
  }
  POP_RETURN_IF_ERROR(makeDirectory(directoryOf(path)));
  removeLeftovers(path);
  return replace(path, digestOf({frames}) + frames);
}

}  // namespace pop::tls
