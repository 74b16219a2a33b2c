# A Debian of its own with systemd, for scripts/package-test and scripts/image: made with debootstrap, booted with
# systemd-nspawn in namespaces of its own, without a network.
work=$(mktemp -d)
root=$work/root
machine=
cleanup() {
    [ -z "$machine" ] || { kill -TERM "$machine" 2>/dev/null; wait "$machine" 2>/dev/null; } || true
    [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap cleanup EXIT

now() { date +%s.%N; }
figure() { awk -v n="$1" -v v="$2" -v u="$3" 'BEGIN { printf "figure %s %.10g %s\n", n, v, u }'; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { print b - a }'; }
step() { echo "step: $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
# expect TEXT COMMAND…: the command's output must contain the text.
expect() {
    local text=$1 output
    shift
    output=$("$@" 2>&1) || fail "$*: $output"
    grep -qF -- "$text" <<<"$output" || fail "$*: expected '$text', got: $output"
}
# refuse COMMAND…: the command must fail.
refuse() { ! "$@" >/dev/null 2>&1 || fail "$* should fail"; }

# make_base SUITE: makes the base system in .build/package-test, unless it is there. The mirror is that of this machine's apt.
make_base() {
    base=$PWD/.build/package-test/$1
    [ ! -f "$base.done" ] || return 0
    local mirror
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(CREATED_BY)' | awk '$3 == "Packages" { print $1, $2 }' |
        awk -v suite="$1" '$2 == suite { print $1; exit }')
    [ -n "$mirror" ] || fail "this machine's apt has no mirror for $1"
    rm -rf "$base"
    mkdir -p "$base"
    step "making the base system of $1 (once)"
    debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,sudo,bash-completion "$1" "$base" "$mirror" \
        >"$base.log" 2>&1 || { tail -n 20 "$base.log" >&2; fail "debootstrap"; }
    useradd --root "$base" --create-home --shell /bin/bash alice
    echo 'alice ALL=(ALL) NOPASSWD: ALL' >"$base/etc/sudoers.d/alice"
    # What the package depends on comes from apt's cache, because the test has no network.
    chroot "$base" apt-get install -y -qq --download-only libsqlite3-0 zlib1g libstdc++6 ca-certificates tzdata >>"$base.log" 2>&1
    printf '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n127.0.1.1\tmartlet-test\n' >"$base/etc/hosts"
    echo martlet-test >"$base/etc/hostname"
    rm -f "$base/etc/resolv.conf"
    touch "$base.done"
}

# start_debian: boots a copy of the base system; sets leader to its first process.
start_debian() {
    mkdir -p "$root"
    cp -a --reflink=auto "$base/." "$root"
    systemd-nspawn --quiet --directory="$root" --machine=martlet-test --private-network --register=no --keep-unit \
        --link-journal=no --boot </dev/null >"$work/console.log" 2>&1 &
    machine=$!
    leader=
    for _ in $(seq 600); do
        leader=$(pgrep -P "$machine" -x systemd || true)
        [ -z "$leader" ] || ! as_root test -S /run/systemd/private 2>/dev/null || break
        kill -0 "$machine" 2>/dev/null || { cat "$work/console.log" >&2; fail "systemd-nspawn ended"; }
        sleep 0.05
    done
    [ -n "$leader" ] || { cat "$work/console.log" >&2; fail "the test system does not boot"; }
    # Its state is "degraded" if a unit has failed.
    for _ in $(seq 600); do
        case $(as_root systemctl is-system-running 2>/dev/null || true) in
            running) return ;;
            degraded) fail "units that failed: $(as_root systemctl --failed --no-legend)" ;;
        esac
        sleep 0.05
    done
    fail "the test system has not booted"
}

# as_root COMMAND…, as_user COMMAND: run it in the test system; the latter as a user with sudo, in a login shell.
as_root() {
    nsenter --target "$leader" --all -- /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
as_user() { as_root runuser --login alice --command "$1"; }

# files: every file and directory of the test system that an installation could have made, without what changes by itself.
files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./home \
        -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/tmp \
        -o -path ./var/lib/systemd \) -prune -o -print | sort)
}
