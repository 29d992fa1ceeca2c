// SPDX-License-Identifier: Apache-2.0
#include "popctl/jobs/submit_options.h"

#include <CLI/CLI.hpp>
#include <limits>
#include <string_view>

#include "popctl/whole_number.h"
#include "poprun/cli/word_reader.h"

namespace pop::popctl {
namespace {

/// As in "--priority -5", which would be an option.
bool isNegativeNumber(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9';
}

}  // namespace

void addSubmitOptions(CLI::App& app, SubmitOptions& submit) {
  app.add_option("--name", submit.name, "of the job")
      ->type_name("NAME")
      ->check(notEmpty())
      ->check(noOption());
  app.add_flag("--held", submit.held, "it waits until `popctl release job`");
  app.add_option("--priority", submit.priority, "jobs with a higher one start first")
      ->type_name("N")
      ->check(wholeNumber(std::numeric_limits<int>::min()));
  app.add_option("--hosts", submit.num_hosts,
                 "number of hosts, which popdistd chooses; without -np each gets one instance")
      ->type_name("N")
      ->check(wholeNumber(1, 65536));
  app.add_option("--allocation", submit.allocation,
                 "run on hosts that serve this allocation's agents, under its quota")
      ->type_name("NAME")
      ->check(notEmpty())
      ->check(noOption());
  app.add_flag("--no-wait", submit.no_wait, "fail if the job cannot start now");
  app.add_flag("--wait", submit.wait, "wait for the job's end, and exit as it did");
  app.add_flag("--attach", submit.attach, "show the job as poprun does; Ctrl-C ends the job");
  app.footer(
      "These and poprun's options, in any order, come before the program. --timeout is poprun's: the job's "
      "limit.");
}

std::span<const std::string> takeOptions(const CLI::App& app, std::span<const std::string> words,
                                         SubmitWords& taken) {
  while (!words.empty() && words.front().size() > 1 && words.front()[0] == '-' && words.front() != "--") {
    const std::string& word = words.front();
    const std::string name = word.substr(0, word.find('='));
    const CLI::Option* const own = app.get_option_no_throw(name);
    std::size_t count = 1;
    if (own == nullptr) {
      count = cli::wordsOfOption(words);
      taken.popruns.insert(taken.popruns.end(), words.begin(),
                           words.begin() + static_cast<std::ptrdiff_t>(count));
    } else if (own->get_expected_min() > 0 && name == word && words.size() > 1) {
      count = 2;
      if (isNegativeNumber(words[1])) {
        taken.popctls.push_back(name + '=' + words[1]);
      } else {
        taken.popctls.insert(taken.popctls.end(), {name, words[1]});
      }
    } else {
      taken.popctls.push_back(word);
    }
    words = words.subspan(count);
  }
  return words;
}

}  // namespace pop::popctl
