#!/bin/sh
# disk_full.sh COUNT_FULL: runs it in a mount namespace of its own, on a disk of 16 MB. 77: no namespaces.
set -u
program=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/gillnet-full-XXXXXX") || exit 2
unshare --mount true 2>/dev/null || { rmdir "$folder"; echo "needs a mount namespace"; exit 77; }
# shellcheck disable=SC2016 # the inner shell's words
unshare --mount sh -c 'mount -t tmpfs -o size=16m,mode=0750 none "$1" && "$2" "$1"' sh "$folder" "$program"
status=$?
rmdir "$folder"
exit $status
