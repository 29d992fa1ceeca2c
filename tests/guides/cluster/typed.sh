# SPDX-License-Identifier: Apache-2.0
# A shell at a terminal that is typed into: runs the blocks that come at file descriptor 3, each ended by a zero byte,
# and says on 4 which of their commands failed, and "done" after each block.
set -m           # each command has its own process group, as at a terminal
set -o pipefail  # also of a command whose output goes on
trap 'printf "exit code %s: %s\n" "$?" "$BASH_COMMAND" >&4' ERR
while IFS= read -r -d '' -u 3 typed_block; do
  eval "$typed_block"
  printf 'done\n' >&4
done
