// SPDX-License-Identifier: Apache-2.0
// Prints one of the texts that are made from the option table: help, reference, man, or a shell's completion.
#include <cstdio>
#include <string>

#include "poprun/cli/options_doc.h"

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "help") text = pop::cli::helpText();
  if (what == "simulate") text = pop::cli::simulateHelpText();
  if (what == "reference") text = pop::cli::referencePage();
  if (what == "man") text = pop::cli::manPage();
  if (what == "bash") text = pop::cli::bashCompletion();
  if (what == "zsh") text = pop::cli::zshCompletion();
  if (what == "fish") text = pop::cli::fishCompletion();
  if (text.empty()) {
    std::fputs("usage: poprun_options_doc help|simulate|reference|man|bash|zsh|fish\n", stderr);
    return 2;
  }
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}
