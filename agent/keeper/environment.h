// SPDX-License-Identifier: Apache-2.0
// The environment of processes that are started alike: most of it is put together once, for each process only
// what differs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pop::keeper {

class Environment {
 public:
  /// This process's own environment with `variables` ("NAME=value") over it; of two with one name, the later.
  explicit Environment(std::vector<std::string> variables = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// With `variables` over it, as execve takes it: the pointers live as long as both.
  std::vector<char*> with(const std::vector<std::string>& variables) const;

 private:
  std::vector<std::string> own_;
  std::vector<char*> all_;
  std::unordered_map<std::string_view, std::size_t> place_of_;  ///< in all_, by name
};

/// The value of `name` in what with() returned; empty when it is not there.
std::string_view valueIn(const std::vector<char*>& environment, std::string_view name);

}  // namespace pop::keeper
