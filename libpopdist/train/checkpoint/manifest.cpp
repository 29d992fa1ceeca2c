// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/checkpoint/manifest.h"

#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include "common/base/crc32c.h"
#include "common/base/json.h"
#include "common/base/text.h"

namespace popdist::train {
namespace {

constexpr const char* kFormat = "popdist checkpoint";
constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kOwnCrc = ",\"manifest_crc32c\":";

std::uint32_t crcOf(std::string_view text) {
  return pop::crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

pop::Status damaged(const std::string& why) {
  return {pop::Code::kDataLoss, "the manifest is damaged: " + why};
}

/// The last member is the checksum of all before it.
pop::Status checkOwnCrc(std::string_view text) {
  const std::size_t at = text.rfind(kOwnCrc);
  if (at == std::string_view::npos) return damaged("it has no checksum, so it is cut off");
  const std::string wanted = std::string(kOwnCrc) + std::to_string(crcOf(text.substr(0, at))) + "}\n";
  return text.substr(at) == wanted ? pop::Status() : damaged("its checksum is wrong");
}

const std::string* textIn(const pop::JsonValue& json, const char* name) {
  const pop::JsonValue* const value = json.find(name);
  return value == nullptr ? nullptr : value->text();
}

std::optional<std::uint64_t> numberIn(const pop::JsonValue& json, const char* name) {
  const pop::JsonValue* const value = json.find(name);
  return value == nullptr ? std::nullopt : value->uint64();
}

const pop::JsonValue::Array* arrayIn(const pop::JsonValue& json, const char* name) {
  const pop::JsonValue* const value = json.find(name);
  return value == nullptr ? nullptr : value->array();
}

/// A name in the checkpoint's own directory.
bool isPlainName(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::string numbersJson(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (const std::uint32_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return "[" + text + "]";
}

pop::Result<Manifest> manifestFrom(const pop::JsonValue& json) {
  Manifest manifest;
  const pop::JsonValue* const position = json.find("position");
  const pop::JsonValue::Array* const files = arrayIn(json, "files");
  if (position == nullptr || files == nullptr) return damaged("it has no position or no files");
  POP_ASSIGN_OR_RETURN(manifest.position, positionFrom(*position));
  for (const pop::JsonValue& each : *files) {
    POP_ASSIGN_OR_RETURN(StoredFile file, storedFileFrom(each));
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

}  // namespace

std::string shardName(int instance, int instances) {
  char name[64];
  std::snprintf(name, sizeof name, "shard-%05d-of-%05d.safetensors", instance, instances);
  return name;
}

std::string jsonOf(const Position& position) {
  pop::JsonObject values;
  for (const auto& [name, value] : position.values) values.text(name, value);
  return pop::JsonObject()
      .json("step", std::to_string(position.step))
      .json("epoch", std::to_string(position.epoch))
      .json("samples", std::to_string(position.samples))
      .json("seed", std::to_string(position.seed))
      .json("values", values.str())
      .str();
}

pop::Result<Position> positionFrom(const pop::JsonValue& json) {
  const auto step = numberIn(json, "step");
  const auto epoch = numberIn(json, "epoch");
  const auto samples = numberIn(json, "samples");
  const auto seed = numberIn(json, "seed");
  const pop::JsonValue* const values = json.find("values");
  if (!step || !epoch || !samples || !seed || values == nullptr || values->object() == nullptr)
    return damaged("its position lacks a number or the values");
  Position position{.step = *step, .epoch = *epoch, .samples = *samples, .seed = *seed};
  for (const auto& [name, value] : *values->object()) {
    if (value.text() == nullptr) return damaged("the value " + pop::inQuotes(name) + " is no string");
    position.values.emplace(name, *value.text());
  }
  return position;
}

std::string jsonOf(const StoredFile& file) {
  return pop::JsonObject()
      .text("name", file.name)
      .json("bytes", std::to_string(file.bytes))
      .json("block_crc32c", numbersJson(file.block_crcs))
      .json("pieces", jsonOf(file.parts))
      .str();
}

pop::Result<StoredFile> storedFileFrom(const pop::JsonValue& json) {
  const std::string* const name = textIn(json, "name");
  const auto bytes = numberIn(json, "bytes");
  const pop::JsonValue::Array* const crcs = arrayIn(json, "block_crc32c");
  const pop::JsonValue* const parts = json.find("pieces");
  if (name == nullptr || !bytes || crcs == nullptr || parts == nullptr)
    return damaged("a file lacks its name, bytes, checksums or pieces");
  if (!isPlainName(*name)) return damaged("a file has the name " + pop::inQuotes(*name));
  if (*bytes / kBlockBytes + (*bytes % kBlockBytes != 0 ? 1 : 0) != crcs->size()) {
    return damaged(pop::inQuotes(*name) + " has " + std::to_string(*bytes) + " bytes and " +
                   std::to_string(crcs->size()) + " checksums");
  }
  StoredFile file{.name = *name, .bytes = *bytes, .block_crcs = {}, .parts = {}};
  for (const pop::JsonValue& crc : *crcs) {
    const auto value = crc.uint64();
    if (!value || *value > UINT32_MAX) return damaged("a checksum of " + pop::inQuotes(*name) + " is none");
    file.block_crcs.push_back(static_cast<std::uint32_t>(*value));
  }
  pop::Result<std::vector<Part>> read = partsFrom(*parts);
  if (!read.ok()) return damaged(read.status().message());
  file.parts = std::move(read).value();
  return file;
}

std::string textOf(const Manifest& manifest) {
  std::string files;
  for (const StoredFile& file : manifest.files) files += (files.empty() ? "\n" : ",\n") + jsonOf(file);
  std::string text = pop::JsonObject()
                         .text("format", kFormat)
                         .json("version", std::to_string(kVersion))
                         .json("block_bytes", std::to_string(kBlockBytes))
                         .json("position", jsonOf(manifest.position))
                         .json("files", "[" + files + "]")
                         .str();
  text.pop_back();
  const std::uint32_t crc = crcOf(text);
  return text + std::string(kOwnCrc) + std::to_string(crc) + "}\n";
}

pop::Result<Manifest> parseManifest(std::string_view text) {
  POP_RETURN_IF_ERROR(checkOwnCrc(text));
  const pop::Result<pop::JsonValue> json = pop::parseJson(text);
  if (!json.ok()) return damaged(json.status().message());
  const std::string* const format = textIn(json.value(), "format");
  if (format == nullptr || *format != kFormat) return damaged("it is of something else");
  if (numberIn(json.value(), "version") != kVersion || numberIn(json.value(), "block_bytes") != kBlockBytes) {
    return pop::Status(pop::Code::kUnimplemented,
                       "a later version of popdist has written this checkpoint: read it by that");
  }
  return manifestFrom(json.value());
}

pop::Result<Spec> tensorsOf(const Manifest& manifest) {
  std::vector<Part> parts;
  for (const StoredFile& file : manifest.files)
    parts.insert(parts.end(), file.parts.begin(), file.parts.end());
  return wholeTensors(std::move(parts));
}

}  // namespace popdist::train
