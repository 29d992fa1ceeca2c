// SPDX-License-Identifier: Apache-2.0
#include "popdistd/access/audit_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "common/base/text.h"
#include "common/log/log.h"
#include "common/sys/random_name.h"
#include "common/sys/whole_file.h"
#include "popdistd/access/audit_line.h"

namespace pop::popdistd {
namespace {

constexpr std::size_t kLongestLineBytes = 64 * 1024;

Result<off_t> sizeOf(const sys::Fd& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errnoStatus("looking at " + path, errno);
  return status.st_size;
}

// The end of the file, without a last line that was not ended, which is cut off.
Result<std::string> wholeTail(const sys::Fd& file, const std::string& path) {
  POP_ASSIGN_OR_RETURN(const off_t size, sizeOf(file, path));
  std::string tail(std::min<std::size_t>(static_cast<std::size_t>(size), 2 * kLongestLineBytes), '\0');
  const off_t begin = size - static_cast<off_t>(tail.size());
  const ssize_t count = ::pread(file.get(), tail.data(), tail.size(), begin);
  if (count != static_cast<ssize_t>(tail.size()))
    return errnoStatus("reading " + path, count < 0 ? errno : EIO);
  const std::size_t end = tail.rfind('\n') + 1;  // 0: there is none
  if (end < tail.size() && ::ftruncate(file.get(), begin + static_cast<off_t>(end)) != 0)
    return errnoStatus("writing " + path, errno);
  tail.resize(end);
  return tail;
}

std::int64_t numberOf(const std::string& line) {
  static constexpr std::string_view kBegin = R"({"id":)";
  std::int64_t number = -1;
  if (line.starts_with(kBegin))
    std::from_chars(line.data() + kBegin.size(), line.data() + line.size(), number);
  return number;
}

// The number of the last entry; -1: it is none of the store's.
Result<std::int64_t> lastOf(const std::string& tail, const AuditFile::EntryAt& entry_at) {
  if (tail.empty()) return 0;
  const std::size_t before = tail.size() < 2 ? std::string::npos : tail.rfind('\n', tail.size() - 2);
  const std::string line = tail.substr(before + 1, tail.size() - before - 2);  // npos + 1 is 0
  const std::int64_t number = numberOf(line);
  if (number < 1) return -1;
  const Result<v1::AuditEntry> entry = entry_at(number);
  if (entry.code() == Code::kNotFound) return -1;
  if (!entry.ok()) return entry.status();
  return auditLine(entry.value()) == line ? number : -1;
}

Result<sys::Fd> openLog(const std::string& path) {
  return sys::openRegular(path, O_RDWR | O_CREAT | O_APPEND);
}

}  // namespace

Result<AuditFile> AuditFile::open(const std::string& path, const EntryAt& entry_at) {
  POP_ASSIGN_OR_RETURN(sys::Fd file, openLog(path));
  POP_ASSIGN_OR_RETURN(const std::string tail, wholeTail(file, path));
  POP_ASSIGN_OR_RETURN(const std::int64_t last, lastOf(tail, entry_at));
  if (last >= 0) return AuditFile(path, std::move(file), last);
  const std::string aside = path + '.' + sys::randomName();
  if (::rename(path.c_str(), aside.c_str()) != 0) return errnoStatus("moving " + path + " aside", errno);
  log::warning("the audit log " + path +
               " does not go with the store, which may be an older copy: it is now " + aside +
               ", and a new one begins");
  POP_ASSIGN_OR_RETURN(file, openLog(path));
  return AuditFile(path, std::move(file), 0);
}

Status AuditFile::append(const std::string& lines, std::int64_t last) {
  POP_ASSIGN_OR_RETURN(const off_t before, sizeOf(file_, path_));
  const Status written = sys::writeAll(file_.get(), lines).during("writing " + path_);
  if (written.ok()) {
    last_ = last;
    return {};
  }
  // Half a line is worse than none. If it stays, the next start cuts it off.
  if (::ftruncate(file_.get(), before) != 0)
    log::warning("the audit log " + path_ + " ends with half a line: " + printable(written.message()));
  return written;
}

}  // namespace pop::popdistd
