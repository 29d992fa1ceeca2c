// SPDX-License-Identifier: Apache-2.0
#include "proto/descriptors.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <string>
#include <vector>

#include "common/base/check.h"

// protoc's descriptor set, as the build has made it.
asm(".pushsection .rodata\n"
    ".global pop_descriptor_set_begin\n"
    ".hidden pop_descriptor_set_begin\n"
    "pop_descriptor_set_begin:\n"
    ".incbin \"" POP_DESCRIPTOR_SET
    "\"\n"
    ".global pop_descriptor_set_end\n"
    ".hidden pop_descriptor_set_end\n"
    "pop_descriptor_set_end:\n"
    ".byte 0\n"
    ".popsection\n");
extern "C" const char pop_descriptor_set_begin[];
extern "C" const char pop_descriptor_set_end[];

namespace pop::proto {
namespace {

using google::protobuf::DescriptorPool;

// The pool keeps no copies.
std::vector<std::string> addFiles() {
  google::protobuf::FileDescriptorSet set;
  POP_CHECK(set.ParseFromArray(pop_descriptor_set_begin,
                               static_cast<int>(pop_descriptor_set_end - pop_descriptor_set_begin)));
  std::vector<std::string> files;
  files.reserve(static_cast<std::size_t>(set.file_size()));
  for (const auto& file : set.file()) {
    // protobuf's own files, such as timestamp.proto, are there already.
    if (DescriptorPool::generated_pool()->FindFileByName(file.name()) != nullptr) continue;
    const std::string& bytes = files.emplace_back(file.SerializeAsString());
    DescriptorPool::InternalAddGeneratedFile(bytes.data(), static_cast<int>(bytes.size()));
  }
  return files;
}

}  // namespace

void registerDescriptors() {
  static const std::vector<std::string> files = addFiles();
}

}  // namespace pop::proto
