// SPDX-License-Identifier: Apache-2.0
// A trace's events, read back as a viewer reads them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_reader.h"

namespace popdist::trace {

inline std::vector<pop::JsonValue> eventsOf(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  pop::Result<pop::JsonValue> json = pop::parseJson(text.str());
  EXPECT_TRUE(json.ok()) << path << ": " << json.status().message();
  if (!json.ok() || json->array() == nullptr) return {};
  return *json->array();
}

inline std::string textOf(const pop::JsonValue& event, std::string_view member) {
  const pop::JsonValue* const found = event.find(member);
  return found == nullptr || found->text() == nullptr ? "" : *found->text();
}

inline double numberOf(const pop::JsonValue& event, std::string_view member) {
  const pop::JsonValue* const found = event.find(member);
  return found == nullptr ? -1 : found->number().value_or(-1);
}

}  // namespace popdist::trace
