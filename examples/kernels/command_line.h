// SPDX-License-Identifier: Apache-2.0
// An example's command line: options of the form --name VALUE, each with the variable that it sets.
#pragma once

#include <functional>
#include <string>
#include <vector>

class CommandLine {
 public:
  CommandLine(std::string program, std::string help);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CommandLine& text(const char* name, std::string& value);
  CommandLine& flag(const char* name, bool& value);  ///< --name, without a VALUE
  /// A whole number from `least` to a million.
  CommandLine& whole(const char* name, int& value, int least = 1);
  /// A number from 0 to 10.
  CommandLine& fraction(const char* name, const std::function<void(float)>& set);
  /// One of `names`, such as "momentum or adam": `set` says whether it is.
  CommandLine& choice(const char* name, const std::string& names,
                      const std::function<bool(const std::string&)>& set);

  /// Exits with a message and code 2 on a mistake, with the help text and code 0 on --help.
  void parse(int argc, char** argv) const;
  [[noreturn]] void mistake(const std::string& message) const;

 private:
  struct Option {
    std::string name;
    bool has_value;
    std::function<void(const std::string& value)> set;
  };
  CommandLine& add(Option option);
  [[noreturn]] void isNot(const std::string& name, const std::string& value,
                          const std::string& expected) const;

  std::string program_;
  std::string help_;
  std::vector<Option> options_;
};
