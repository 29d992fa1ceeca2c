// SPDX-License-Identifier: Apache-2.0
// An example's command line: options of the form --name VALUE, each with the variable that it sets.
#pragma once

#include <concepts>
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
  template <std::integral Number>
  CommandLine& whole(const char* name, Number& value, int least = 1) {
    return addWhole(name, least, [&value](int given) { value = static_cast<Number>(given); });
  }
  /// A number from 0 to `most`.
  CommandLine& fraction(const char* name, int most, const std::function<void(double)>& set);
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
  CommandLine& addWhole(const char* name, int least, const std::function<void(int)>& set);
  [[noreturn]] void isNot(const std::string& name, const std::string& value,
                          const std::string& expected) const;

  std::string program_;
  std::string help_;
  std::vector<Option> options_;
};
