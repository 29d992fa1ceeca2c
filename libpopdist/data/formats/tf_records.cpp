// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/tf_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "common/base/crc32c.h"
#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kHeadBytes = kLengthBytes + kChecksumBytes;
static_assert(std::endian::native == std::endian::little);

template <typename Number>
Number numberAt(std::span<const std::byte> bytes, std::size_t offset) {
  Number value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// So that a checksum of data that holds checksums is a good one.
std::uint32_t maskedChecksum(std::span<const std::byte> bytes) {
  return std::rotr(pop::crc32c(bytes), 15) + 0xa282ead8U;
}

std::string place(const std::string& path, std::uint64_t record, std::uint64_t start) {
  return pop::inQuotes(path) + ", record " + std::to_string(record) + " (at byte " + std::to_string(start) +
         ")";
}

}  // namespace

pop::Result<TfRecords> TfRecords::open(const std::vector<std::string>& paths) {
  if (paths.empty()) return pop::invalidArgument("no files");
  TfRecords records;
  for (const std::string& path : paths) {
    POP_ASSIGN_OR_RETURN(FileBytes file, FileBytes::open(path));
    POP_RETURN_IF_ERROR(records.index(std::move(file)));
  }
  return records;
}

pop::Status TfRecords::index(FileBytes file) {
  const std::span<const std::byte> all = file.bytes();
  const std::uint64_t first = starts_.size();
  for (std::size_t start = 0; start < all.size();) {
    POP_RETURN_IF_ERROR(file.checkRead());
    const std::span<const std::byte> rest = all.subspan(start);
    const std::uint64_t record = starts_.size() - first;
    const auto lost = [&](const std::string& why) {
      return pop::Status(pop::Code::kDataLoss, place(file.path(), record, start) + ' ' + why);
    };
    if (rest.size() < kHeadBytes) return lost("is truncated: its length is cut");
    std::array<std::byte, kHeadBytes> head{};  // another process may change the file's
    std::copy_n(rest.begin(), head.size(), head.begin());
    if (maskedChecksum(std::span(head).first(kLengthBytes)) != numberAt<std::uint32_t>(head, kLengthBytes)) {
      POP_RETURN_IF_ERROR(file.checkRead());
      if (record > 0) return lost("is damaged: its length has another checksum");
      return pop::invalidArgument(pop::inQuotes(file.path()) +
                                  " is no TFRecord file: it does not begin with a length and its checksum");
    }
    const auto length = numberAt<std::uint64_t>(head, 0);
    const std::size_t room = rest.size() - kHeadBytes;
    if (room < kChecksumBytes || length > room - kChecksumBytes)
      return lost("is truncated: it has " + std::to_string(length) + " bytes and their checksum, of which " +
                  std::to_string(room) + " are there");
    starts_.push_back(start);
    start += kHeadBytes + length + kChecksumBytes;
  }
  files_.push_back({std::move(file), first});
  return {};
}

const TfRecords::File& TfRecords::fileOf(std::uint64_t index) const {
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), index,
                       [](std::uint64_t record, const File& file) { return record < file.first; });
  return *(after - 1);
}

pop::Result<std::span<const std::byte>> TfRecords::record(std::uint64_t index) const {
  // Its length is what the index says: another process may have changed the file since it was checked.
  const File& file = fileOf(index);
  const bool is_last = index + 1 == starts_.size() || starts_[index + 1] == 0;
  const std::size_t end = is_last ? file.bytes.bytes().size() : starts_[index + 1];
  const std::span<const std::byte> record = file.bytes.bytes().subspan(starts_[index], end - starts_[index]);
  const std::span<const std::byte> data =
      record.subspan(kHeadBytes, record.size() - kHeadBytes - kChecksumBytes);
  const bool is_whole =
      maskedChecksum(data) == numberAt<std::uint32_t>(record, record.size() - kChecksumBytes);
  POP_RETURN_IF_ERROR(file.bytes.checkRead());
  if (is_whole) return data;
  return pop::Status(pop::Code::kDataLoss, placeOf(index) + " is damaged: its data has another checksum");
}

std::vector<FileState> TfRecords::files() const {
  std::vector<FileState> states;
  for (const File& file : files_) states.push_back(file.bytes.state());
  return states;
}

std::string TfRecords::placeOf(std::uint64_t index) const {
  const File& file = fileOf(index);
  return place(file.bytes.path(), index - file.first, starts_[index]);
}

}  // namespace popdist::io
