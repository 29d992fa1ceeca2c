// SPDX-License-Identifier: Apache-2.0
#include "agent/service/unix_user.h"

#include <chrono>
#include <limits>
#include <utility>

#include "common/base/text.h"
#include "common/os/helper_run.h"

namespace pop::agent {
namespace {

constexpr std::chrono::seconds kTimeout{10};  // directories on other hosts may not answer
constexpr std::size_t kFields = 7;
constexpr std::size_t kLoginWords = 6;

Result<std::uint32_t> parseId(std::string_view text) {
  POP_ASSIGN_OR_RETURN(const std::int64_t id, parseInteger(text));
  if (id < 0 || id >= std::numeric_limits<std::uint32_t>::max())
    return invalidArgument(inQuotes(text) + " is not a user or group number");
  return static_cast<std::uint32_t>(id);
}

// "name:x:uid:gid:comment:home:shell"
Result<UnixUser> parseEntry(const std::string& line) {
  const std::vector<std::string> fields = split(line.substr(0, line.find('\n')), ':');
  if (fields.size() != kFields) return internalError("unexpected answer from getent: " + inQuotes(line));
  POP_ASSIGN_OR_RETURN(const uid_t uid, parseId(fields[2]));
  POP_ASSIGN_OR_RETURN(const gid_t gid, parseId(fields[3]));
  return UnixUser{fields[0], uid, gid, fields[5], fields[6]};
}

// "100 4 27"
Result<std::vector<gid_t>> parseGroups(const std::string& text) {
  std::vector<gid_t> groups;
  for (const std::string& word : split(text, ' ')) {
    POP_ASSIGN_OR_RETURN(const gid_t group, parseId(word));
    groups.push_back(group);
  }
  return groups;
}

Status notFound(const std::string& who) {
  return {Code::kNotFound, "this host has no user " + inQuotes(who)};
}

Result<UnixUser> lookUp(const std::string& key) {
  const Result<std::string> answer = os::outputOf({"getent", "passwd", "--", key}, kTimeout);
  if (answer.ok()) return parseEntry(answer.value());
  if (answer.code() == Code::kFailedPrecondition) return notFound(key);  // it has looked
  return Status(answer.status()).during("looking up user " + inQuotes(key));
}

}  // namespace

Result<UnixUser> lookUpUser(const std::string& name) {
  POP_ASSIGN_OR_RETURN(UnixUser user, lookUp(name));
  if (user.name != name) return notFound(name);  // getent takes a number for a uid
  return user;
}

Result<UnixUser> lookUpUser(uid_t uid) {
  return lookUp(std::to_string(uid));
}

Status checkNotRootByAnotherName(const UnixUser& user) {
  if (user.uid != 0 || user.name == "root") return {};
  return failedPrecondition("user " + inQuotes(user.name) +
                            " is root by another name: write root if you mean it");
}

Result<std::vector<gid_t>> groupsOf(const UnixUser& user) {
  Result<std::string> answer = os::outputOf({"id", "-G", "--", user.name}, kTimeout);
  if (!answer.ok()) return Status(answer.status()).during("looking up the groups of " + inQuotes(user.name));
  return parseGroups(answer.value().substr(0, answer.value().find('\n')));
}

Result<Login> lookUpLogin(const std::string& name) {
  POP_ASSIGN_OR_RETURN(UnixUser user, lookUpUser(name));
  POP_RETURN_IF_ERROR(checkNotRootByAnotherName(user));
  POP_ASSIGN_OR_RETURN(std::vector<gid_t> groups, groupsOf(user));
  return Login{std::move(user), std::move(groups)};
}

std::vector<std::string> wordsOf(const Login& login) {
  const UnixUser& user = login.user;
  std::vector<std::string> groups;
  for (const gid_t group : login.groups) groups.push_back(std::to_string(group));
  return {user.name, std::to_string(user.uid), std::to_string(user.gid), join(groups, " "), user.home,
          user.shell};
}

Result<Login> loginOf(const std::vector<std::string>& words) {
  if (words.size() != kLoginWords)
    return invalidArgument("a user has " + std::to_string(kLoginWords) + " words");
  Login login{.user = {.name = words[0], .home = words[4], .shell = words[5]}, .groups = {}};
  POP_ASSIGN_OR_RETURN(login.user.uid, parseId(words[1]));
  POP_ASSIGN_OR_RETURN(login.user.gid, parseId(words[2]));
  POP_ASSIGN_OR_RETURN(login.groups, parseGroups(words[3]));
  return login;
}

}  // namespace pop::agent
