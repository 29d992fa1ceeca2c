// SPDX-License-Identifier: Apache-2.0
// Options of each ssh that poprun needs, whichever program starts it in the end (poprun, rsync,
// ssh-copy-id).
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace pop {

/// The one that is used where the user names none.
inline constexpr const char* kSshProgram = "ssh";

/// True if `program`, a name or a path, is ssh: other programs get no options of ssh.
bool isSsh(const std::string& program);

/// The lines of `program -G` without any configuration, such as "addressfamily any": its own defaults. It is
/// asked once. Empty: it does not run, or is no ssh.
const std::set<std::string>& sshDefaults(const std::string& program);

/// "Keyword=value" for each setting of the user's configuration that is meant for logins by hand, and would
/// keep a command from running there or leave something behind: a RemoteCommand, forwarded ports.
std::vector<std::string> unlikeLogins(const std::string& program);

/// The same for a program that nobody can answer; it does not wait for longer than `connect_timeout`.
std::vector<std::string> withoutQuestions(const std::string& program, std::chrono::seconds connect_timeout);

/// Appends "-o" and the setting for each, if `words` are a command line of ssh.
void addSettings(std::vector<std::string>& words, const std::vector<std::string>& settings);

}  // namespace pop
