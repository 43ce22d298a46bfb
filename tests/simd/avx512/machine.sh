# shellcheck shell=bash disable=SC2154  # scripts/lib.sh sets them
# Functions that run programs from build/release on a machine with AVX-512 that Bochs emulates. A script must source scripts/lib.sh
# first. `scripts/setup --avx512` installs the programs that these functions need.

readonly machine=$root/tests/simd/avx512
readonly work=$root/build/avx512
# shellcheck disable=SC2034  # used by scripts that source this
readonly console=$work/console.log # the output of the machine
readonly hours=1                   # a limit for a machine that hangs; usually it takes some minutes

# libraries PROGRAM...: prints the shared libraries that the programs load, and the loader, one on each line.
libraries() { ldd "$@" | sed -n 's/^.*[[:space:]]\(\/[^ ]*\) (0x.*/\1/p' | sort -u; }

# make_memory_disk PROGRAM...: makes the machine's files: init, the programs and their libraries.
make_memory_disk() {
  local tree=$work/tree path
  rm -rf -- "$tree"
  mkdir -p -- "$tree"
  "${CXX:-c++}" -std=c++20 -O1 -static -s -o "$tree/init" "$machine/init.cc"
  for path in "$@"; do strip -o "$tree/${path##*/}" -- "$path"; done
  while read -r path; do install -D -- "$path" "$tree$path"; done < <(libraries "$@")
  (cd -- "$tree" && find . | cpio --create --format=newc --quiet) | gzip -1 >"$work/cd/initrd"
}

# make_cd ARGUMENTS PROGRAM...: makes a CD that boots Linux and runs the programs one after the other, each with these arguments.
make_cd() {
  local arguments=$1 name commands=
  shift
  [[ -e $avx512/linux ]] || die "no Linux to run them on: scripts/setup --avx512 fetches it"
  for name in "${@##*/}"; do commands+=" \"$name${arguments:+ $arguments}\""; done
  mkdir -p -- "$work/cd/isolinux"
  make_memory_disk "$@"
  cp -- "$avx512/linux" "$work/cd/linux"
  cp -- /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/cd/isolinux/"
  sed -e "s|@COMMANDS@|$commands|" -- "$machine/isolinux.cfg" >"$work/cd/isolinux/isolinux.cfg"
  xorriso -as mkisofs -quiet -o "$work/cd.iso" -b isolinux/isolinux.bin -c isolinux/boot.cat \
    -no-emul-boot -boot-load-size 4 -boot-info-table "$work/cd" 2>"$work/xorriso.log"
}

# emulate MODEL: runs the machine until it turns itself off, which Bochs reports as an error. The screen is discarded.
emulate() {
  sed -e "s|@MODEL@|$1|" -- "$machine/bochs.conf" >"$work/bochs.conf"
  rm -f -- "$console" "$work/bochs.log"
  printf 'c\n' >"$work/start" # Debian's Bochs begins in its debugger
  (cd -- "$work" && TERM=vt100 timeout --kill-after=10 "${hours}h" script --quiet --return --command "bochs -q -f bochs.conf -rc start" screen.log) \
    </dev/null >/dev/null 2>&1 || true
}

# said: prints the output of the machine with Unix line ends.
said() { tr -d '\r' <"$console"; }
