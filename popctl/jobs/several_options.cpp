// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "popctl/jobs/several.h"
#include "popctl/whole_number.h"

namespace pop::popctl {

void addSeveral(CLI::App& app, Command& command) {
  app.add_option("JOB", command.objects, "")->check(notEmpty())->option_text("...");
  app.add_option("--user", command.filter.user, "all jobs of this user")
      ->type_name("NAME")
      ->check(notEmpty());
  app.add_option("--name", command.filter.name, "all jobs of this name: yours, without --user")
      ->type_name("NAME")
      ->check(notEmpty());
}

}  // namespace pop::popctl
