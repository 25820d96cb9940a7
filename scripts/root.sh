# Sourced by test-on and try-wheel: bare roots of Debian or Ubuntu releases, made by debootstrap, entered by chroot.
# The caller defines fail() and has checked that it is root.

# What apt itself uses on this system, less the archive of security updates, which holds no whole release.
own_sources() { apt-get indextargets --format "$1" 'Created-By: Packages' | grep -v security; }

# make_root ROOT RELEASE [DEBOOTSTRAP OPTION...]: unless it stands. $SACCADE_MIRROR says where packages come from.
make_root() {
  local root=$1 release=$2 mirror components
  shift 2
  if [[ -e $root ]]; then return; fi
  mirror=${SACCADE_MIRROR:-$(own_sources '$(REPO_URI)' | head -n 1)}
  [[ $mirror ]] || fail "apt names no mirror here: set SACCADE_MIRROR"
  components=$(own_sources '$(COMPONENT)' | sort -u | paste -sd ,)
  echo "making $root from $mirror"
  rm -rf "$root.partial"
  debootstrap --variant=minbase --components="${components:-main}" "$@" "$release" "$root.partial" "$mirror" >"$root.log" 2>&1 ||
    fail "debootstrap failed; see $root.log"
  printf '#!/bin/sh\nexit 101\n' >"$root.partial/usr/sbin/policy-rc.d"  # packages start no services
  chmod +x "$root.partial/usr/sbin/policy-rc.d"
  echo 'Binary::apt-get::APT::Keep-Downloaded-Packages "false";' >"$root.partial/etc/apt/apt.conf.d/90test-on"
  mv "$root.partial" "$root"
}

# run_in_root ROOT SHARED NAME=VALUE... -- COMMAND...: with namespaces of its own: whatever ends the run, its mounts and
# processes go with it. The folder SHARED, where there is one, is seen read-only as /src/shared.
run_in_root() {
  local inside='
    root=$1 shared=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    for device in null zero full random urandom tty; do
      touch "$root/dev/$device"
      mount --bind "/dev/$device" "$root/dev/$device"
    done
    mkdir "$root/dev/shm" "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s fd/0 "$root/dev/stdin"
    ln -s fd/1 "$root/dev/stdout"
    ln -s fd/2 "$root/dev/stderr"
    if [ -d "$shared" ]; then mount --bind -o ro "$shared" "$root/src/shared"; else rmdir "$root/src/shared"; fi
    chroot "$root" "$@"
  '
  local root=$1 shared=$2 environment=()
  shift 2
  while [[ $1 != -- ]]; do
    environment+=("$1")
    shift
  done
  shift
  mkdir -p "$root/src/shared"
  env -i "${environment[@]}" unshare --mount --pid --fork --kill-child bash -euc "$inside" "$(basename "$0")" "$root" "$shared" "$@" </dev/null &
  local pid=$!
  trap 'kill -KILL "'"$pid"'" 2>/dev/null || true' EXIT
  wait "$pid"
}
