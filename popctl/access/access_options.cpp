// SPDX-License-Identifier: Apache-2.0
#include "popctl/access/access_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "popctl/whole_number.h"

namespace pop::popctl {
namespace {

const std::map<std::string, v1::Role> kRoles{{"viewer", v1::ROLE_VIEWER},
                                             {"submit", v1::ROLE_SUBMIT},
                                             {"operator", v1::ROLE_OPERATOR},
                                             {"admin", v1::ROLE_ADMIN}};

void addRole(CLI::App& app, const char* name, AccessOptions& options, const char* description,
             std::vector<std::string> roles) {
  app.add_option_function<std::string>(
         name,
         [&options](const std::string& text) {
           options.shut_out = text == "none";
           options.role = options.shut_out ? v1::ROLE_NONE : kRoles.at(text);
         },
         description)
      ->check(CLI::IsMember(std::move(roles)))
      ->type_name("ROLE");
}

// "30d", "12h", "90m", "60s"
std::int64_t secondsOf(const std::string& text) {
  static const std::map<char, std::int64_t> kUnits_s{{'d', 24 * 3600}, {'h', 3600}, {'m', 60}, {'s', 1}};
  const auto unit = text.empty() ? kUnits_s.end() : kUnits_s.find(text.back());
  const Result<std::int64_t> number = parseInteger(text.empty() ? text : text.substr(0, text.size() - 1));
  if (unit == kUnits_s.end() || !number.ok() || number.value() < 1 || number.value() > 1'000'000)
    throw CLI::ValidationError("--expires", inQuotes(text) + " is not a time such as 30d, 12h or 90m");
  return number.value() * unit->second;
}

}  // namespace

void addAccessOptions(CLI::App& app, Action action, AccessOptions& options) {
  switch (action) {
    case Action::kCreateUser:
      addRole(app, "--role", options,
              "role of the user: none, which shuts it out, viewer, submit, operator or admin",
              {"none", "viewer", "submit", "operator", "admin"});
      app.add_flag("--vipu-key", options.vipu_key,
                   "make a key for V-IPU's clients, and write it to NAME.vipu-cli.hcl");
      return;
    case Action::kCreateToken:
      addRole(app, "--scope", options,
              "role of the token, at most your own: viewer, submit, operator or admin",
              {"viewer", "submit", "operator", "admin"});
      app.add_option_function<std::string>(
             "--expires", [&options](const std::string& text) { options.expires_s = secondsOf(text); },
             "when: 30d if not given, at most 366d; also 12h, 90m")
          ->type_name("TIME");
      app.add_option("--user", options.user, "owner, if not you; for admins")->type_name("NAME");
      return;
    default:
      app.add_option("--user", options.user, "only of this user")->type_name("NAME");
      app.add_option("--limit", options.limit, "at most so many; 100 if not given")
          ->type_name("N")
          ->check(wholeNumber(1, 10000));
  }
}

}  // namespace pop::popctl
