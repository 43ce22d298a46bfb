#!/usr/bin/env bash
# borg 1.2.4 stores the part of a folder that was listed before ENOENT, with exit code 0; restic 0.14.0 says that the listing failed.
#
# Valid input: a folder on a file system that answers ENOENT to getdents(2) after half of its names, as servers of network file
#   systems do when they lose their place in a folder, and as Linux does for a folder that was removed while it was open.
# Behaviour: readdir(3) of glibc takes ENOENT from the kernel for the end of the folder: it returns no name and sets no errno. What is
#   built on it cannot see the difference: ls, Python's os.scandir, and so borg, whose archive then lacks files without a warning. Go
#   calls the kernel itself and reports the error, so restic ends with exit code 3 ("at least one source file could not be read").
# Seen 2026-11-30 with borgbackup 1.2.4-1, restic 0.14.0-1+b5, glibc 2.36, Linux 6.18. Needs root, and /dev/fuse.
set -euo pipefail
packages=(borgbackup=1.2.4-1 restic=0.14.0-1+b5 fuse3 libfuse3-dev gcc libc6-dev pkg-config)
apt-get install -qq --no-install-recommends "${packages[@]}" >/dev/null 2>&1 || { echo "needs root, and Debian 12's packages ${packages[*]}"; exit 2; }
folder=$(mktemp -d)
trap 'fusermount3 -qu "$folder/mnt" || true; rm -rf -- "$folder"' EXIT
cd -- "$folder"
mkdir mnt
echo content >other
cat >server.c <<'C'
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fuse.h>
#include <stdio.h>
#include <string.h>

enum { listed = 50 };  // names before the listing of the folder fails

static int get_attributes(const char* path, struct stat* facts, struct fuse_file_info* file) {
  (void)file;
  memset(facts, 0, sizeof *facts);
  facts->st_mode = path[1] == '\0' ? S_IFDIR | 0755 : S_IFREG | 0644;
  facts->st_nlink = 1;
  return 0;
}

static int list(const char* path, void* buffer, fuse_fill_dir_t fill, off_t begin, struct fuse_file_info* file,
                enum fuse_readdir_flags flags) {
  (void)path, (void)file, (void)flags;
  if (begin >= listed) return -ENOENT;
  for (off_t i = begin; i < listed; ++i) {
    char name[16];
    snprintf(name, sizeof name, "file-%02d", (int)i);
    if (fill(buffer, name, NULL, i + 1, 0)) break;
  }
  return 0;
}

int main(int count, char** words) {
  static const struct fuse_operations calls = {.getattr = get_attributes, .readdir = list};
  return fuse_main(count, words, &calls, NULL);
}
C
# shellcheck disable=SC2046  # flags
gcc -o server server.c $(pkg-config --cflags --libs fuse3)
./server mnt
borg --version
restic version

expect() { # WHAT EXPECTED SEEN
  echo "$1: $3"
  [[ $2 == "$3" ]] || { echo "changed: it was $2"; exit 1; }
}
export BORG_BASE_DIR=$folder/borg BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes RESTIC_PASSWORD=x XDG_CACHE_HOME=$folder/cache
export BORG_RELOCATED_REPO_ACCESS_IS_OK=yes
expect "ls: names, and exit code" "50 0" "$(ls mnt >names && code=0 || code=$?; echo "$(wc -l <names) $code")"
borg init -e none store
code=0
borg create store::first mnt other 2>messages || code=$?
expect "borg create: exit code" 0 $code
expect "borg create: messages" "" "$(cat messages)"
expect "borg: files in the archive" 50 "$(borg list --format '{path}{NL}' store::first | grep -c file-)"
restic init -q -r store2
code=0
restic backup -q -r store2 mnt other >/dev/null 2>messages || code=$?
expect "restic backup: exit code" 3 $code
expect "restic backup: names the listing's error" yes "$(grep -q 'no such file or directory' messages && echo yes || echo no)"
