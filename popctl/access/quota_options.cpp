// SPDX-License-Identifier: Apache-2.0
#include "popctl/access/quota_options.h"

#include <CLI/CLI.hpp>

#include "popctl/whole_number.h"

namespace pop::popctl {

void addQuotaSubject(CLI::App& app, QuotaOptions& options) {
  app.add_option("--user", options.user, "of this user; '*': each user that has none of their own")
      ->type_name("NAME");
  app.add_option("--allocation", options.allocation, "of all jobs in this allocation together")
      ->type_name("NAME");
}

void addQuotaLimits(CLI::App& app, QuotaOptions& options) {
  const auto add = [&app](const char* name, std::optional<int>& value, const char* what) {
    app.add_option(name, value, what)->type_name("N")->check(wholeNumber(0));
  };
  add("--queued", options.queued, "jobs that wait; more are refused");
  add("--running", options.running, "jobs that run; more wait, as below");
  add("--instances", options.instances, "instances of jobs that run");
  add("--ipus", options.ipus, "IPUs of their partitions");
  app.add_option("--share", options.share,
                 "of all that there is, against 1 of others, with popdistd --fair-share")
      ->type_name("N")
      ->check(wholeNumber(1));
}

std::string quotaMistake(const QuotaOptions& options, bool sets) {
  if (options.user.empty() == options.allocation.empty()) return "give --user or --allocation";
  if (!options.allocation.empty() && options.share) return "--share is a user's: an allocation has none";
  const bool has_any =
      options.queued || options.running || options.instances || options.ipus || options.share;
  return sets && !has_any ? "give --queued, --running, --instances, --ipus or --share" : "";
}

}  // namespace pop::popctl
