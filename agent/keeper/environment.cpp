// SPDX-License-Identifier: Apache-2.0
#include "agent/keeper/environment.h"

#include <unistd.h>

#include <utility>

namespace pop::keeper {
namespace {

std::string_view nameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

}  // namespace

Environment::Environment(std::vector<std::string> variables) : own_(std::move(variables)) {
  const auto put = [this](char* variable) {
    const auto [place, is_new] = place_of_.try_emplace(nameOf(variable), all_.size());
    if (is_new) {
      all_.push_back(variable);
    } else {
      all_[place->second] = variable;
    }
  };
  for (char** variable = environ; *variable != nullptr; ++variable) put(*variable);
  for (std::string& variable : own_) put(variable.data());
}

std::vector<char*> Environment::with(const std::vector<std::string>& variables) const {
  std::vector<char*> merged;
  merged.reserve(all_.size() + variables.size() + 1);
  merged = all_;
  for (const std::string& variable : variables) {
    char* text = const_cast<char*>(variable.c_str());
    const auto place = place_of_.find(nameOf(variable));
    if (place == place_of_.end()) {
      merged.push_back(text);
    } else {
      merged[place->second] = text;
    }
  }
  merged.push_back(nullptr);
  return merged;
}

std::string_view valueIn(const std::vector<char*>& environment, std::string_view name) {
  for (const char* variable : environment) {
    if (variable == nullptr) continue;
    const std::string_view text = variable;
    if (text.size() > name.size() && text[name.size()] == '=' && text.starts_with(name))
      return text.substr(name.size() + 1);
  }
  return {};
}

}  // namespace pop::keeper
