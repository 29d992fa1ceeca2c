// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/records.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "common/base/text.h"
#include "common/sys/name_file.h"
#include "common/sys/no_write_signal.h"

namespace popdist::io {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kWriteBytes = 1024 * 1024;
constexpr std::size_t kCacheLineBytes = 64;
constexpr std::size_t kPrefetchBytes = 3072;  // as far as copyWithCrc32c() fetches ahead

std::size_t wholePages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

pop::Status cannot(const std::string& verb, const std::string& path) {
  return pop::errnoStatus("cannot " + verb + ' ' + pop::inQuotes(path), errno);
}

/// True if `path` still names the file: its writer may have renamed or removed it.
bool isNamed(const pop::sys::Fd& file, const std::string& path) {
  struct stat own {};
  struct stat named {};
  return ::fstat(file.get(), &own) == 0 && ::stat(path.c_str(), &named) == 0 && own.st_dev == named.st_dev &&
         own.st_ino == named.st_ino;
}

/// An empty file that no other writer has. It is locked for as long as the descriptor lives.
pop::Result<pop::sys::Fd> createLocked(const std::string& partial) {
  while (true) {
    pop::sys::Fd file(::open(partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
    if (!file.valid()) return cannot("create", partial);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return cannot("lock", partial);
      return pop::unavailable(pop::inQuotes(partial) +
                              " is being written by another writer: only one of them can make the file");
    }
    if (!isNamed(file, partial)) continue;  // the other writer had just finished
    if (::ftruncate(file.get(), 0) != 0) return cannot("write", partial);
    return file;
  }
}

/// The file that gets its name anew if `path` is written: where a link points to. A rename would replace
/// anything, also a device.
pop::Result<std::string> replacedBy(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return cannot("look at", path);
    if (::lstat(path.c_str(), &found) != 0) return path;
    if (S_ISLNK(found.st_mode)) {
      return pop::Status(
          pop::Code::kNotFound,
          pop::inQuotes(path) + " is a link to a file that does not exist: name the file itself");
    }
    // Another writer has just named its file.
  }
  if (!S_ISREG(found.st_mode)) {
    return pop::invalidArgument("cannot replace " + pop::inQuotes(path) +
                                ": it is no regular file; name another one");
  }
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  if (error) return pop::errnoStatus("cannot look at " + pop::inQuotes(path), error.value());
  return file.string();
}

/// With the longest number, so that the count can be filled in at the end.
pop::Result<std::size_t> headerBytes(RecordsHeader header) {
  header.elements = UINT64_MAX;
  POP_ASSIGN_OR_RETURN(const std::string text, textOf(header));
  return wholePages(text.size());
}

}  // namespace

RecordFile::RecordFile(FileBytes file, RecordsHeader header, std::size_t header_bytes)
    : file_(std::move(file)),
      header_(std::move(header)),
      records_(file_.bytes().data() + header_bytes),
      stored_bytes_(header_.storedBytes()) {
  for (const TensorSpec& tensor : header_.spec) bytes_.push_back(tensor.bytes());
  if (header_.checksums) checksums_.emplace(header_);
}

void RecordFile::prefetch(std::uint64_t index) const {
  const std::byte* from = record(index);
  for (std::size_t at = 0; at < std::min(stored_bytes_, kPrefetchBytes); at += kCacheLineBytes)
    __builtin_prefetch(from + at);
}

pop::Status RecordFile::copy(std::uint64_t index, std::byte* const* row) const {
  const std::byte* from = record(index);
  if (!checksums_) {
    for (std::size_t i = 0; i < bytes_.size(); from += bytes_[i++]) std::memcpy(row[i], from, bytes_[i]);
    return file_.checkRead();
  }
  const std::uint32_t found = checksums_->copy(index, from, row);
  std::uint32_t expected = 0;
  std::memcpy(&expected, from + stored_bytes_ - sizeof expected, sizeof expected);
  POP_RETURN_IF_ERROR(file_.checkRead());
  if (found == expected) return {};
  return {pop::Code::kDataLoss, pop::inQuotes(file_.path()) + " is damaged: record " + std::to_string(index) +
                                    " has another checksum; write the file again"};
}

pop::Result<RecordFile> RecordFile::open(const std::string& path) {
  POP_ASSIGN_OR_RETURN(FileBytes file, FileBytes::map(path));
  const std::size_t bytes = file.bytes().size();
  if (bytes == 0)
    return pop::invalidArgument(pop::inQuotes(path) + " is not a file of popdist records: it has no content");
  // A copy: another process may change the file.
  const std::string begin(reinterpret_cast<const char*>(file.bytes().data()),
                          std::min(bytes, std::size_t{1} << 20U));
  POP_RETURN_IF_ERROR(file.checkRead());
  POP_ASSIGN_OR_RETURN(RecordsHeader header, parseRecordsHeader(begin, path));
  POP_ASSIGN_OR_RETURN(const std::size_t header_bytes, headerBytes(header));
  const std::size_t record_bytes = header.storedBytes();
  if (bytes < header_bytes || (bytes - header_bytes) / record_bytes != header.elements ||
      (bytes - header_bytes) % record_bytes != 0) {
    return pop::Status(pop::Code::kDataLoss, pop::inQuotes(path) + " is damaged: its header says " +
                                                 std::to_string(header.elements) + " records of " +
                                                 std::to_string(header.recordBytes()) + " bytes" +
                                                 (header.checksums ? " and their checksums" : "") +
                                                 " after " + std::to_string(header_bytes) +
                                                 ", and the file has " + std::to_string(bytes));
  }
  return RecordFile(std::move(file), std::move(header), header_bytes);
}

RecordWriter::RecordWriter(std::string path, pop::sys::Fd file, RecordsHeader header,
                           std::size_t header_bytes)
    : path_(std::move(path)),
      file_(std::move(file)),
      header_(std::move(header)),
      checksums_(header_),
      header_bytes_(header_bytes) {}

pop::Result<RecordWriter> RecordWriter::create(std::string path, Spec spec, std::string origin) {
  RecordsHeader header{std::move(spec), 0, std::move(origin), std::random_device()()};
  POP_ASSIGN_OR_RETURN(const std::size_t header_bytes, headerBytes(header));
  POP_ASSIGN_OR_RETURN(path, replacedBy(path));
  const std::string partial = path + ".partial";
  POP_ASSIGN_OR_RETURN(pop::sys::Fd file, createLocked(partial));
  RecordWriter writer(std::move(path), std::move(file), std::move(header), header_bytes);
  writer.buffer_.assign(header_bytes, '\0');
  return writer;
}

RecordWriter::~RecordWriter() {
  if (file_.valid() && !is_done_) ::unlink(partial().c_str());
}

pop::Status RecordWriter::append(const std::byte* const* row) {
  for (std::size_t i = 0; i < header_.spec.size(); ++i)
    buffer_.append(reinterpret_cast<const char*>(row[i]), header_.spec[i].bytes());
  const std::uint32_t checksum = checksums_.of(header_.elements, row);
  buffer_.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  ++header_.elements;
  return buffer_.size() < kWriteBytes ? pop::Status() : writeBuffered();
}

pop::Status RecordWriter::writeBuffered() {
  const pop::sys::NoWriteSignal quiet(SIGXFSZ);
  const pop::Status status = pop::sys::writeAll(file_.get(), buffer_);
  buffer_.clear();
  if (status.ok()) return status;
  return {status.code(), "cannot write " + pop::inQuotes(partial()) + ": " + status.message()};
}

pop::Status RecordWriter::finish() {
  POP_RETURN_IF_ERROR(writeBuffered());
  POP_ASSIGN_OR_RETURN(const std::string text, textOf(header_));
  if (::lseek(file_.get(), 0, SEEK_SET) != 0) return cannot("write", partial());
  buffer_ = text;
  POP_RETURN_IF_ERROR(writeBuffered());
  if (::fsync(file_.get()) != 0) return cannot("write", partial());
  errno = pop::sys::nameFile(partial(), path_, true);
  if (errno != 0) return cannot("name", path_);
  is_done_ = true;
  errno = pop::sys::syncDirectoryOf(path_);
  return errno == 0 ? pop::Status() : cannot("write the directory of", path_);
}

}  // namespace popdist::io
