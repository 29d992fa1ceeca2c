// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/context/backends.h"

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

#include "common/sys/module_file.h"

namespace popdist::context {
namespace {

constexpr std::string_view kFilePrefix = "libpopdist_backend_";
constexpr std::string_view kFileSuffix = ".so";

struct Registered {
  std::mutex mutex;
  std::string name;
  bool in_use = false;  ///< the context has been made with it
};

Registered& registered() {
  static Registered& instance = *new Registered;  // never destroyed: other threads may outlive main
  return instance;
}

// The folder of the file that contains this function.
std::string ownDirectory() {
  const std::string file = pop::sys::fileOfModule(reinterpret_cast<const void*>(&ownDirectory));
  return file.substr(0, file.rfind('/') == std::string::npos ? 0 : file.rfind('/'));
}

std::set<std::string> namesIn(const std::vector<std::string>& directories) {
  std::set<std::string> names{kNativeBackend};
  for (const std::string& directory : directories) {
    const auto close = [](DIR* open) { ::closedir(open); };
    const std::unique_ptr<DIR, decltype(close)> entries(::opendir(directory.c_str()), close);
    while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
      const std::string_view file = entry->d_name;
      if (!file.starts_with(kFilePrefix) || !file.ends_with(kFileSuffix)) continue;
      names.emplace(file.substr(kFilePrefix.size(), file.size() - kFilePrefix.size() - kFileSuffix.size()));
    }
  }
  return names;
}

template <typename Strings>
std::string joined(const Strings& strings, const char* separator) {
  std::string text;
  for (const std::string& string : strings) text += (text.empty() ? "" : separator) + string;
  return text;
}

pop::Status unknown(const std::string& name, const std::vector<std::string>& directories) {
  return {pop::Code::kNotFound,
          "no backend '" + name + "': found " + joined(namesIn(directories), ", ") + " in " +
              joined(directories, ", ") +
              "; add directories to POPDIST_BACKEND_PATH, or give the path of a backend"};
}

bool programHasMallocOfItsOwn() {
  void* const libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return false;
  // Checks both: a program that takes a function's address may have its own entry for that function.
  const auto is_own = [libc](const char* name) { return ::dlsym(RTLD_DEFAULT, name) != ::dlsym(libc, name); };
  const bool own = is_own("malloc") && is_own("free");
  ::dlclose(libc);
  return own;
}

// A backend brings libraries that the program may have in another version or, for MPI, from another vendor:
// they are hidden from the program and prefer each other. But then they also prefer the C library's free, and
// would call it for memory that strdup allocated with the program's malloc (jemalloc, tcmalloc, a
// sanitizer's).
int loadMode() {
  return RTLD_NOW | RTLD_LOCAL | (programHasMallocOfItsOwn() ? 0 : RTLD_DEEPBIND);
}

pop::Result<BackendChoice> load(const std::string& name, const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), loadMode());
  if (handle == nullptr)
    return pop::failedPrecondition("cannot load the backend '" + name + "': " + ::dlerror());
  const auto entry = reinterpret_cast<PopdistBackendFunction>(::dlsym(handle, "popdistBackend"));
  if (entry == nullptr)
    return pop::failedPrecondition(path + " is not a backend: it has no function popdistBackend");
  const PopdistBackend* const plugin = entry(kPopdistBackendVersion);
  if (plugin == nullptr || plugin->version != kPopdistBackendVersion) {
    return pop::failedPrecondition(
        path + " implements version " + (plugin == nullptr ? "0" : std::to_string(plugin->version)) +
        " of the plugin interface, this libpopdist needs version " + std::to_string(kPopdistBackendVersion) +
        ": build it with this libpopdist's popdist/backend_plugin.hpp");
  }
  return BackendChoice{name, plugin};
}

std::string orDefault(const std::string& name) {
  if (!name.empty()) return name;
  const char* const variable = std::getenv("POPDIST_BACKEND");
  return variable == nullptr || *variable == '\0' ? kNativeBackend : variable;
}

}  // namespace

std::vector<std::string> backendDirectories() {
  std::vector<std::string> directories;
  if (const char* const path = std::getenv("POPDIST_BACKEND_PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) {
      if (!part.empty()) directories.push_back(part);
    }
  }
  if (const std::string own = ownDirectory(); !own.empty())
    directories.push_back(own + "/../lib/popdist/backends");
  directories.emplace_back(POPDIST_INSTALLED_BACKENDS);
  return directories;
}

pop::Result<BackendChoice> loadBackend(const std::string& name, const std::vector<std::string>& directories) {
  if (name == kNativeBackend) return BackendChoice{};
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), F_OK) == 0) return load(name, name);
    return pop::errnoStatus("no backend '" + name + '\'', errno);
  }
  for (const std::string& directory : directories) {
    const std::string path = directory + '/' + std::string(kFilePrefix) + name + std::string(kFileSuffix);
    if (::access(path.c_str(), F_OK) == 0) return load(name, path);
  }
  return unknown(name, directories);
}

pop::Status registerBackendName(const std::string& name) {
  Registered& known = registered();
  const std::lock_guard lock(known.mutex);
  if (known.in_use) {
    return pop::failedPrecondition(
        "this process is already connected: call it before initializeBackend and before the first use of "
        "Context");
  }
  pop::Result<BackendChoice> loaded = loadBackend(orDefault(name), backendDirectories());
  if (loaded.ok()) known.name = name;
  return loaded.status();
}

pop::Result<BackendChoice> chosenBackend() {
  Registered& known = registered();
  const std::lock_guard lock(known.mutex);
  pop::Result<BackendChoice> loaded = loadBackend(orDefault(known.name), backendDirectories());
  known.in_use = loaded.ok();
  return loaded;
}

}  // namespace popdist::context
