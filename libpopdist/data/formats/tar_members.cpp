// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/tar_members.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "common/base/text.h"

namespace popdist::io {
namespace {

constexpr std::size_t kBlockBytes = 512;
constexpr std::size_t kMostNameBytes = 1024 * 1024;
constexpr std::size_t kMostPaddingBytes =
    1024 * 1024;  // tar writes 10 KiB at a time, or as --blocking-factor says

/// One block of text fields at fixed places.
class Header {
 public:
  explicit Header(std::span<const std::byte> block)
      : text_(reinterpret_cast<const char*>(block.data()), kBlockBytes) {}

  bool isZero() const { return text_.find_first_not_of('\0') == std::string_view::npos; }

  bool hasChecksum() const {
    constexpr std::size_t kBegin = 148;
    constexpr std::size_t kBytes = 8;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlockBytes; ++i) {
      const bool is_its_own = i >= kBegin && i < kBegin + kBytes;
      sum += is_its_own ? std::uint64_t{' '} : std::uint64_t{static_cast<unsigned char>(text_[i])};
    }
    return octal(text_.substr(kBegin, kBytes)) == sum;
  }

  /// Octal digits, or where the first bit is set a big-endian number (GNU).
  std::optional<std::uint64_t> size() const {
    const std::string_view field = text_.substr(124, 12);
    if ((static_cast<unsigned char>(field[0]) & 0x80U) == 0) return octal(field);
    std::uint64_t value = static_cast<unsigned char>(field[0]) & 0x7fU;
    for (const char byte : field.substr(1)) {
      if (value >> 55U != 0) return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(byte);
    }
    return value;
  }

  char kind() const { return text_[156]; }

  std::string name() const {
    const std::string_view own = upToZero(text_.substr(0, 100));
    // GNU's own headers have other things where POSIX has the start of the name.
    const std::string_view before =
        text_.substr(257, 6) == std::string_view("ustar\0", 6) ? upToZero(text_.substr(345, 155)) : "";
    return before.empty() ? std::string(own) : std::string(before) + '/' + std::string(own);
  }

  std::string target() const { return std::string(upToZero(text_.substr(157, 100))); }

 private:
  static std::string_view upToZero(std::string_view field) { return field.substr(0, field.find('\0')); }

  static std::optional<std::uint64_t> octal(std::string_view field) {
    const std::size_t begin = std::min(field.find_first_not_of(' '), field.size());
    const char* const first = field.data() + begin;
    const char* const last = field.data() + field.size();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(first, last, value, 8);
    if (error != std::errc()) return std::nullopt;
    if (end != last && *end != ' ' && *end != '\0') return std::nullopt;
    return value;
  }

  std::string_view text_;
};

std::string_view charactersOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Number>
std::optional<Number> wholeNumber(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Headers that are about the next member, or about all.
bool announces(char kind) {
  return kind == 'L' || kind == 'K' || kind == 'x' || kind == 'X' || kind == 'g';
}

/// Labels of the archive, and Solaris's lists of rights.
bool isNoMember(char kind) {
  return kind == 'V' || kind == 'A' || kind == 'E' || kind == 'I';
}

TarMember::Kind kindOf(char kind) {
  switch (kind) {
    case '1':
      return TarMember::Kind::kHardLink;
    case '2':
      return TarMember::Kind::kSymbolicLink;
    case '3':
    case '4':
    case '6':
      return TarMember::Kind::kDevice;
    case '5':
    case 'D':
      return TarMember::Kind::kDirectory;
    default:
      return TarMember::Kind::kFile;  // POSIX says so of unknown kinds
  }
}

/// Links and devices may say a size but have no content.
bool hasContent(char kind) {
  return kind == 'D' || kindOf(kind) == TarMember::Kind::kFile;
}

}  // namespace

pop::Result<std::optional<TarMember>> TarMembers::next() {
  Announced announced;
  while (true) {
    header_ = at_;
    if (bytes_.size() - at_ < kBlockBytes) return cut("its end, a block of zeros, is missing");
    const Header header(bytes_.subspan(at_, kBlockBytes));
    if (header.isZero()) {
      if (announced.isAnything()) return damaged("is the archive's end, and a member was announced before");
      POP_RETURN_IF_ERROR(checkEnd());
      return std::optional<TarMember>();
    }
    const auto size = header.size();
    if (!header.hasChecksum() || !size) {
      if (at_ == 0) return pop::invalidArgument(pop::inQuotes(archive_) + " is no tar archive");
      return damaged("has another checksum, or a size that is no number");
    }
    at_ += kBlockBytes;
    const char kind = header.kind();
    std::string name = announced.name.empty() ? header.name() : announced.name;
    if (kind == 'S')
      return damaged("is of the sparse file " + pop::inQuotes(name) + ": make the archive without --sparse");
    if (kind == 'M' || kind == 'N')
      return damaged("is of a part of " + pop::inQuotes(name) + ": make the archive in one volume");
    const std::uint64_t bytes = !announces(kind) && announced.size ? *announced.size : *size;
    POP_ASSIGN_OR_RETURN(const auto content, takeContent(hasContent(kind) ? bytes : 0));
    if (announces(kind)) {
      POP_RETURN_IF_ERROR(readAnnounced(kind, content, announced));
    } else if (!isNoMember(kind)) {
      std::string target = announced.target.empty() ? header.target() : std::move(announced.target);
      const bool is_old_directory = name.ends_with('/') && kindOf(kind) == TarMember::Kind::kFile;
      return std::optional<TarMember>({is_old_directory ? TarMember::Kind::kDirectory : kindOf(kind),
                                       std::move(name), content, std::move(target)});
    }
  }
}

pop::Status TarMembers::readAnnounced(char kind, std::span<const std::byte> content,
                                      Announced& announced) const {
  if (content.size() > kMostNameBytes) return damaged("announces a name of more than 1 MiB");
  const std::string_view text = charactersOf(content);
  if (kind == 'L') announced.name = text.substr(0, text.find('\0'));
  if (kind == 'K') announced.target = text.substr(0, text.find('\0'));
  if (kind == 'x' || kind == 'X') return readPax(content, announced);
  if (kind != 'g') return {};
  Announced of_all;
  POP_RETURN_IF_ERROR(readPax(content, of_all));
  return of_all.isAnything() ? damaged("gives all members one name, target or size") : pop::Status();
}

/// After the end comes what fills up tar's last write: zeros, or with old programs anything. Further members
/// are a second archive, or one with a hole; more zeros are a file that has got its size and not its content.
pop::Status TarMembers::checkEnd() const {
  const auto rest = bytes_.subspan(at_);
  std::size_t last = 0;  // behind what is not zero
  for (std::size_t at = 0; rest.size() - at >= kBlockBytes; at += kBlockBytes) {
    const Header header(rest.subspan(at, kBlockBytes));
    if (header.isZero()) continue;
    if (header.hasChecksum())
      return damaged(
          "is a block of zeros, the archive's end, and further members follow: take archives one by "
          "one");
    last = at + kBlockBytes;
  }
  if (last > 0 || rest.size() <= kMostPaddingBytes) return {};
  return damaged("is the first of " + std::to_string(rest.size()) +
                 " zeros: the file has got its size, and not all of its content");
}

pop::Result<std::span<const std::byte>> TarMembers::takeContent(std::uint64_t bytes) {
  const std::size_t room = bytes_.size() - at_;
  if (bytes > room)
    return cut("a file of " + std::to_string(bytes) + " bytes has " + std::to_string(room) + " of them");
  const auto content = bytes_.subspan(at_, bytes);
  const std::size_t padding = (kBlockBytes - bytes % kBlockBytes) % kBlockBytes;
  at_ += std::min<std::size_t>(bytes + padding, room);
  return content;
}

/// Lines "LENGTH KEY=VALUE", whose length counts all of the line.
pop::Status TarMembers::readPax(std::span<const std::byte> records, Announced& announced) const {
  std::string_view rest = charactersOf(records);
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    const auto length = wholeNumber<std::size_t>(rest.substr(0, blank));
    if (blank == std::string_view::npos || !length || *length > rest.size() || *length < blank + 2 ||
        rest[*length - 1] != '\n')
      return damaged("has a line that is not as long as it says");
    const std::string_view line = rest.substr(blank + 1, *length - blank - 2);
    rest.remove_prefix(*length);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return damaged("has a line without =");
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (key.starts_with("GNU.sparse."))
      return damaged("is of a sparse file: make the archive without --sparse");
    if (key == "path") announced.name = value;
    if (key == "linkpath") announced.target = value;
    if (key == "size") {
      announced.size = wholeNumber<std::uint64_t>(value);
      if (!announced.size) return damaged("has a size that is no number");
    }
  }
  return {};
}

pop::Status TarMembers::damaged(const std::string& why) const {
  return {pop::Code::kDataLoss,
          pop::inQuotes(archive_) + ": the header at byte " + std::to_string(header_) + ' ' + why};
}

pop::Status TarMembers::cut(const std::string& why) const {
  if (bytes_.size() < kBlockBytes)
    return pop::invalidArgument(pop::inQuotes(archive_) + " is no tar archive");
  return {pop::Code::kDataLoss,
          pop::inQuotes(archive_) + " is truncated at byte " + std::to_string(bytes_.size()) + ": " + why};
}

}  // namespace popdist::io
