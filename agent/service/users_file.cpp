// SPDX-License-Identifier: Apache-2.0
#include "agent/service/users_file.h"

#include <optional>
#include <sstream>
#include <utility>

#include "common/base/text.h"
#include "common/sys/fd.h"
#include "common/sys/writers.h"

namespace pop::agent {
namespace {

constexpr std::int64_t kMaxLimit = 1'000'000;
constexpr const char* kLineForm = "write NAME = USER, optionally followed by jobs=N and instances=N";

using Words = std::vector<std::string>;

// Words are separated by blanks; the '=' of "NAME = USER" is a word of its own, however it is spaced.
Words wordsOf(std::string_view line) {
  std::istringstream stream{std::string(line)};
  Words words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  if (words.empty() || words.front() == "limits") {
    if (words.size() < 2 || words[1] != "=") return words;
  }
  const std::size_t equals = words.front().find('=');
  if (equals != std::string::npos && words.front().size() > 1) {  // "alice=alice", "alice="
    const std::string first = words.front();
    words.front() = first.substr(0, equals);
    words.insert(words.begin() + 1, "=");
    if (equals + 1 < first.size()) words.insert(words.begin() + 2, first.substr(equals + 1));
  } else if (words.size() > 1 && words[1].size() > 1 && words[1].front() == '=') {  // "alice =alice"
    words.insert(words.begin() + 2, words[1].substr(1));
    words[1] = "=";
  }
  return words;
}

class Parser {
 public:
  Parser(const std::string& file, const UserLookup& lookup) : file_(file), lookup_(lookup) {}

  ParsedUsers parse(std::string_view text) {
    for (const std::string& line : split(text, '\n')) {
      ++line_;
      const Words words = wordsOf(trimmed(std::string_view(line).substr(0, line.find('#'))));
      if (words.empty()) continue;
      if (words.front() == "limits" && (words.size() == 1 || words[1] != "=")) {
        parseTotals(words);
      } else {
        parseUser(words);
      }
    }
    return std::move(parsed_);
  }

 private:
  void mistake(const std::string& text) {
    parsed_.mistakes.push_back(file_ + ':' + std::to_string(line_) + ": " + text);
  }

  void parseTotals(const Words& words) {
    if (totals_line_ != 0) mistake("limits are already given in line " + std::to_string(totals_line_));
    if (words.size() == 1) mistake("'limits' needs jobs=N, instances=N, or both");
    totals_line_ = line_;
    parsed_.users.limits = parseLimits(words, 1);
  }

  void parseUser(const Words& words) {
    if (words.size() < 3 || words[1] != "=") return mistake(inQuotes(words.front()) + ": " + kLineForm);
    const std::string& name = words.front();
    if (const auto [known, is_new] = lines_.emplace(name, line_); !is_new) {
      mistake(inQuotes(name) + " is already named in line " + std::to_string(known->second));
    }
    if (name == "*") return mistake("'*': wildcards are not supported; list each name");
    const JobLimits limits = parseLimits(words, 3);
    if (std::optional<UnixUser> user = findUser(words[2])) {
      parsed_.users.users[name] = {std::move(*user), limits};
    }
  }

  std::optional<UnixUser> findUser(const std::string& name) {
    Result<UnixUser> user = lookup_(name);
    if (!user.ok()) {
      mistake(user.status().message());
      return std::nullopt;
    }
    if (const Status good = checkNotRootByAnotherName(*user); !good.ok()) {
      mistake(good.message());
      return std::nullopt;
    }
    return std::move(*user);
  }

  JobLimits parseLimits(const Words& words, std::size_t first) {
    JobLimits limits;
    for (std::size_t i = first; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      const std::string name = words[i].substr(0, equals);
      int* const field = name == "jobs" ? &limits.jobs : name == "instances" ? &limits.instances : nullptr;
      if (field == nullptr || equals == std::string::npos) {
        mistake(inQuotes(words[i]) + ": expected jobs=N or instances=N");
        continue;
      }
      if (*field != 0) mistake(name + " is given more than once");
      const Result<std::int64_t> value = parseInteger(std::string_view(words[i]).substr(equals + 1));
      if (!value.ok() || value.value() < 1 || value.value() > kMaxLimit) {
        mistake(words[i] + ": must be a number from 1 to " + std::to_string(kMaxLimit) +
                "; leave it out for no limit");
        continue;
      }
      *field = static_cast<int>(value.value());
    }
    return limits;
  }

  const std::string& file_;
  const UserLookup& lookup_;
  int line_ = 0;
  int totals_line_ = 0;
  std::map<std::string, int> lines_;
  ParsedUsers parsed_;
};

}  // namespace

ParsedUsers parseUsers(std::string_view text, const std::string& file, const UserLookup& lookup) {
  return Parser(file, lookup).parse(text);
}

ParsedUsers loadUsers(const std::string& path, const UserLookup& lookup) {
  const Result<sys::Fd> file = sys::openFile(path);
  if (!file.ok()) return {{}, {file.status().message()}};
  // Any user who can write the file can run jobs as any user in it.
  if (const Status safe = sys::checkWriters(file.value(), path); !safe.ok()) return {{}, {safe.message()}};
  const Result<std::string> text = sys::readAll(file.value(), path);
  if (!text.ok()) return {{}, {text.status().message()}};
  return parseUsers(text.value(), path, lookup);
}

}  // namespace pop::agent
