// SPDX-License-Identifier: Apache-2.0
// A line that names the format; then the CRC-32C of all that follows, and numbers of the host's byte order.
#include "libpopdist/pod/plans/program_bytes.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "common/base/crc32c.h"

namespace popdist::pod {
namespace {

constexpr std::string_view kFormat = "popdist program 1\n";

struct Copy {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint32_t first = 0;
  std::uint32_t blocks = 0;
  std::uint32_t reduces = 0;
};

class Writer {
 public:
  template <typename Number>
  void number(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(std::string_view value) {
    number(static_cast<std::uint64_t>(value.size()));
    bytes_.append(value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename Number>
  Number number() {
    Number value{};
    if (!take(sizeof(value))) return value;
    std::memcpy(&value, taken_.data(), sizeof(value));
    return value;
  }
  std::string_view text() {
    const auto size = number<std::uint64_t>();
    return take(size) ? taken_ : std::string_view();
  }
  /// A number of things of which each has at least so many bytes.
  std::uint32_t count(std::size_t bytes_of_each) {
    const auto value = number<std::uint32_t>();
    if (value > rest_.size() / bytes_of_each) is_whole_ = false;
    return is_whole_ ? value : 0;
  }
  bool isWhole() const { return is_whole_; }
  bool isAtEnd() const { return is_whole_ && rest_.empty(); }

 private:
  bool take(std::uint64_t size) {
    if (!is_whole_ || size > rest_.size()) return is_whole_ = false;
    taken_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  std::string_view taken_;
  bool is_whole_ = true;
};

std::uint32_t checksumOf(std::string_view bytes) {
  return pop::crc32c(std::as_bytes(std::span(bytes)));
}

using Rounds = std::vector<std::vector<Copy>>;

Rounds roundsOf(const Schedule& schedule) {
  Rounds rounds;
  std::size_t copies = 0;
  for (const Phase& phase : schedule.phases) {
    for (int round = 0; round < phase.rounds && copies <= kMostStoredCopies; ++round) {
      std::vector<Copy>& of_round = rounds.emplace_back();
      phase.transfers(round, [&](const Transfer& each) {
        of_round.push_back({each.from, each.to, each.first, each.blocks, each.reduces ? 1U : 0U});
      });
      copies += of_round.size();
    }
  }
  if (copies > kMostStoredCopies) rounds.clear();
  return rounds;
}

bool isWithin(const Copy& copy, const Schedule& schedule) {
  return copy.from >= 0 && copy.from < schedule.replicas && copy.to >= 0 && copy.to < schedule.replicas &&
         copy.from != copy.to && copy.blocks >= 1 && copy.first < schedule.blocks &&
         copy.blocks <= schedule.blocks - copy.first && copy.reduces <= 1;
}

Phase phaseOf(std::shared_ptr<const Rounds> rounds) {
  Phase phase{"compiled", static_cast<int>(rounds->size()), {}, {}};
  for (int round = 0; round < phase.rounds; ++round) phase.classes.push_back({round, 1});
  phase.transfers = [rounds = std::move(rounds)](int round, const Take& take) {
    for (const Copy& each : (*rounds)[static_cast<std::size_t>(round)])
      take({each.from, each.to, each.first, each.blocks, each.reduces == 1});
  };
  return phase;
}

bool readParts(Reader& reader, Schedule& schedule) {
  const std::uint32_t parts = reader.count(sizeof(std::uint32_t));
  std::vector<bool> has_place(parts);
  for (std::uint32_t at = 0; at < parts; ++at) {
    const auto part = reader.number<std::uint32_t>();
    if (part >= parts || has_place[part]) return false;
    has_place[part] = true;
    schedule.part_of_place.push_back(part);
  }
  return reader.isWhole() && (parts == 0 || schedule.blocks % parts == 0);
}

bool readRounds(Reader& reader, const Schedule& schedule, Rounds& rounds) {
  const std::uint32_t count = reader.count(sizeof(std::uint32_t));
  for (std::uint32_t round = 0; round < count; ++round) {
    const std::uint32_t copies = reader.count(sizeof(Copy));
    std::vector<Copy>& of_round = rounds.emplace_back(copies);
    for (Copy& copy : of_round) {
      copy = reader.number<Copy>();
      if (!isWithin(copy, schedule)) return false;
    }
  }
  return reader.isAtEnd();
}

}  // namespace

std::string programBytes(std::string_view key, const CompiledCollective& compiled) {
  const Schedule& schedule = compiled.schedule;
  const Rounds rounds = roundsOf(schedule);
  if (rounds.empty() && schedule.rounds() > 0) return {};
  Writer body;
  body.text(key);
  body.text(compiled.report.method);
  body.number(compiled.report.time.count());
  body.number(compiled.report.lower_bound.count());
  body.number(compiled.report.rounds);
  body.number(compiled.report.bytes_on_busiest_link);
  body.number(schedule.replicas);
  body.number(schedule.blocks);
  body.number(static_cast<std::uint32_t>(schedule.part_of_place.size()));
  for (const std::uint32_t part : schedule.part_of_place) body.number(part);
  body.number(static_cast<std::uint32_t>(rounds.size()));
  for (const std::vector<Copy>& of_round : rounds) {
    body.number(static_cast<std::uint32_t>(of_round.size()));
    for (const Copy& copy : of_round) body.number(copy);
  }
  Writer whole;
  whole.number(checksumOf(body.bytes()));
  return std::string(kFormat) + whole.bytes() + body.bytes();
}

pop::Result<CompiledCollective> programFromBytes(std::string_view bytes, std::string_view key) {
  const pop::Status other = pop::invalidArgument("it is not this program, or damaged");
  if (!bytes.starts_with(kFormat)) return other;
  Reader reader(bytes.substr(kFormat.size()));
  const auto checksum = reader.number<std::uint32_t>();
  if (!reader.isWhole() || checksum != checksumOf(bytes.substr(kFormat.size() + sizeof(checksum))))
    return other;
  if (reader.text() != key) return other;
  CompiledCollective compiled;
  compiled.report.method = reader.text();
  compiled.report.time = SimulatedTime(reader.number<std::int64_t>());
  compiled.report.lower_bound = SimulatedTime(reader.number<std::int64_t>());
  compiled.report.rounds = reader.number<int>();
  compiled.report.bytes_on_busiest_link = reader.number<std::uint64_t>();
  compiled.schedule.replicas = reader.number<int>();
  compiled.schedule.blocks = reader.number<std::uint32_t>();
  const auto rounds = std::make_shared<Rounds>();
  if (!readParts(reader, compiled.schedule) || !readRounds(reader, compiled.schedule, *rounds)) return other;
  if (!rounds->empty()) compiled.schedule.phases.push_back(phaseOf(rounds));
  return compiled;
}

}  // namespace popdist::pod
