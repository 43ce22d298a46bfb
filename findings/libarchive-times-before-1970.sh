#!/usr/bin/env bash
# libarchive 3.6.2 (bsdtar of Debian 12) writes and reads fractions of seconds before 1970 as GNU tar 1.34 and CPython's tarfile do not.
#
# Valid input: a file whose time of modification is 0.25 s after a whole second of the year 1950.
# Behaviour: POSIX says that a time in a pax header is a decimal number of seconds, so this one is -631054554.75. libarchive writes
#   the whole seconds, rounded down, and then the digits of the fraction that is added to them: -631054555.25. It reads the same
#   form back, so its own round trip is exact. GNU tar and tarfile read the number as it stands, here half a second early; and
#   libarchive reads the archive of GNU tar 1.5 s late.
# Seen 2026-11-30 with libarchive-tools 3.6.2-1+deb12u5. The code is the same in libarchive 3.8.9.
set -euo pipefail
version=3.6.2-1+deb12u5
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"
apt-get download -qq "libarchive-tools=$version" "libarchive13=$version" 2>errors || { cat errors; echo "needs Debian 12's package libarchive-tools $version"; exit 2; }
for package in *.deb; do dpkg -x "$package" root; done
bsdtar() { LD_LIBRARY_PATH=$(echo root/usr/lib/*-linux-gnu) root/usr/bin/bsdtar "$@"; }
bsdtar --version
tar --version | head -n 1

time_of() { TZ=UTC stat -c %.2Y -- "$1"; }
expect() { # WHAT EXPECTED SEEN
  echo "$1: $3"
  [[ $2 == "$3" ]] || { echo "changed: it was $2"; exit 1; }
}
mkdir by_bsdtar by_gnu by_bsdtar_of_gnu
touch -d '1950-01-02 03:04:05.25 UTC' file
expect "time of the file" -631054554.75 "$(time_of file)"
bsdtar --format pax -cf bsd.tar file
tar --format=pax -cf gnu.tar file
expect "bsdtar writes" mtime=-631054555.25 "$(grep -a -o 'mtime=[-0-9.]*' bsd.tar)"
expect "GNU tar writes" mtime=-631054554.75 "$(grep -a -o 'mtime=[-0-9.]*' gnu.tar)"
bsdtar -xf bsd.tar -C by_bsdtar
tar -xf bsd.tar -C by_gnu 2>/dev/null
bsdtar -xf gnu.tar -C by_bsdtar_of_gnu
expect "bsdtar reads its own" -631054554.75 "$(time_of by_bsdtar/file)"
expect "GNU tar reads bsdtar's" -631054555.25 "$(time_of by_gnu/file)"
expect "tarfile reads bsdtar's" -631054555.25 "$(python3 -c 'import tarfile; print(tarfile.open("bsd.tar").getmember("file").mtime)')"
expect "bsdtar reads GNU tar's" -631054553.25 "$(time_of by_bsdtar_of_gnu/file)"
