// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "popctl/several.h"

namespace pop::popctl {

void addSeveral(CLI::App& app, Command& command) {
  app.add_option("JOB", command.objects, "")->option_text("...");
  app.add_option("--user", command.filter.user, "all jobs of this user")->type_name("NAME");
  app.add_option("--name", command.filter.name, "all jobs of this name: yours, without --user")
      ->type_name("NAME");
}

}  // namespace pop::popctl
