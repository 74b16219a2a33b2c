# Shared by the scripts that start servers: a working directory, certificates, and servers that end with the script.
work=$(mktemp -d)
servers=()
cleanup() {
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
    # A server of PostgreSQL waits for its clients when it is asked in another way, and a part may have started it again.
    [ -z "${postgres:-}" ] || kill -QUIT "$(head -n 1 "$postgres/data/postmaster.pid" 2>/dev/null)" 2>/dev/null || true
    wait 2>/dev/null || true
    [ -n "${KEEP:-}" ] || rm -rf "$work" ${postgres:+"$postgres" "$postgres-b"}
}
trap cleanup EXIT

# build_benchmark NAME CONFIGURATION: builds a program of the package in Benchmarks; sets binaries to the folder it is in.
# The package shares the build folder and the versions of dependencies, and so the modules that are built already, with Martlet.
build_benchmark() {
    [ ! -f Package.resolved ] || cp Package.resolved Benchmarks/
    # A plan of Martlet alone, which is newer than all manifests, would count as one of this package.
    rm -f ".build/$2.yaml"
    scripts/swift build --package-path Benchmarks --scratch-path .build -c "$2" --product "$1"
    binaries=$(scripts/swift build --package-path Benchmarks --scratch-path .build -c "$2" --show-bin-path)
}

# start LOG COMMAND…: starts a server in the background; it is ended by its process id when the script ends.
start() {
    local log=$1
    shift
    "$@" >"$work/$log.log" 2>&1 &
    servers+=($!)
}

# listens PORT PID: waits until the process listens on the port, 60 s at most, on a busy machine; fails if it does not, or ends.
listens() {
    for _ in $(seq 600); do
        kill -0 "$2" 2>/dev/null || return 1
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then
            # A server that finds its port taken by another one ends now.
            sleep 0.1
            kill -0 "$2" 2>/dev/null
            return
        fi
        sleep 0.1
    done
    return 1
}

# start_listening NAME COMMAND…: starts `COMMAND… PORT` on a port that is free, and tries another one if it is taken
# meanwhile; sets port and server_pid. COMMAND is a function that ends with exec, so that server_pid is the server's.
start_listening() {
    local name=$1
    shift
    for _ in 1 2 3 4 5; do
        port=$(free_port)
        start "$name" "$@" "$port"
        server_pid=${servers[-1]}
        listens "$port" "$server_pid" && return 0
        stop_server "$server_pid"
        unset 'servers[-1]'
    done
    echo "$name does not listen:" >&2
    tail -n 15 "$work/$name.log" >&2
    exit 1
}

# start_again NAME PORT COMMAND…: starts `COMMAND… PORT` on a port that it had before; sets server_pid.
start_again() {
    local name=$1 port=$2
    shift 2
    # A server that stopped just now may leave connections on its port that are about to end.
    for _ in $(seq 50); do
        start "$name" "$@" "$port"
        server_pid=${servers[-1]}
        ! listens "$port" "$server_pid" || return 0
        stop_server "$server_pid"
        unset 'servers[-1]'
        sleep 0.2
    done
    echo "$name does not listen again:" >&2
    tail -n 15 "$work/$name.log" >&2
    exit 1
}

# free_port: a port on which nothing listens now. It is below those that the system gives to outgoing connections, so that
# none of these takes it before a server does.
free_port() {
    local port first
    read -r first _ </proc/sys/net/ipv4/ip_local_port_range || first=32768
    [ "$first" -gt 12000 ] || first=32768
    while :; do
        port=$((10000 + (RANDOM * 32768 + RANDOM) % (first - 10000)))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
}

# make_identity: a self-signed certificate for localhost, a signing key, a payload of usual size.
make_identity() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$work/server.key" -out "$work/server.pem" 2>/dev/null
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/key.p8" 2>/dev/null
    printf '%s' '{"aps":{"alert":{"title":"Hello","body":"World, this is a push of ordinary size"},"badge":3,' \
        '"sound":"default"},"id":12345678}' >"$work/payload.json"
}

# await_log NAME PID MESSAGE: waits until a server has logged a message, 120 s at most, on a busy machine.
await_log() {
    for _ in $(seq 1200); do
        ! grep -q "\"$3\"" "$work/$1.log" || return 0
        kill -0 "$2" 2>/dev/null || break
        sleep 0.1
    done
    echo "the $1 does not open:" >&2
    tail -n 15 "$work/$1.log" >&2
    exit 1
}

# start_gateway DATA [OPTION…]: starts a gateway on free ports; sets gateway_pid, http2_port, courier_port and admin_port.
start_gateway() {
    local data=$1
    shift
    : >"$work/gateway.log"
    start gateway "$martlet" gateway --data-directory "$data" --environment sandbox --port 0 \
        --log-format json "$@"
    gateway_pid=${servers[-1]}
    await_log gateway "$gateway_pid" "gateway is open"
    http2_port=$(port_of gateway http2) courier_port=$(port_of gateway courier) admin_port=$(port_of gateway admin)
}

# start_provider DATA [OPTION…]: starts a provider on a free port; sets provider_pid, api_port and, the first time, api_key.
start_provider() {
    local data=$1
    shift
    : >"$work/provider.log"
    start provider "$martlet" serve --data-directory "$data" --port 0 --log-format json "$@"
    provider_pid=${servers[-1]}
    await_log provider "$provider_pid" "provider is open"
    api_port=$(port_of provider api)
    api_key=$(grep -a -m 1 -oE 'mk_[A-Za-z0-9_-]+' "$work/provider.log" || echo "${api_key:-}")
}

# start_postgres [-c SETTING=VALUE]…: starts a server of PostgreSQL with a database "martlet" of a user of that name, whose data
# is in a folder of its own. Sets postgres to that folder, in which are its socket, `bin` with its programs, and `run`, which
# starts it on its data again, with the same settings, in the foreground.
start_postgres() {
    local programs account as=()
    for programs in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -rV) ${PATH//:/ } none; do
        [ ! -x "$programs/initdb" ] || [ ! -x "$programs/postgres" ] || [ ! -x "$programs/psql" ] || break
    done
    [ "$programs" != none ] || { echo "no server of PostgreSQL is installed: run scripts/setup postgres" >&2; exit 1; }
    # The path of a socket has at most 107 bytes.
    postgres=$(mktemp -d /tmp/martlet-pq-XXXXXX)
    if [ "$(id -u)" = 0 ]; then
        # The server does not run as root.
        account=postgres
        id -u postgres >/dev/null 2>&1 || account=nobody
        chown "$account" "$postgres"
        chmod 711 "$postgres"
        as=(setpriv --reuid="$(id -u "$account")" --regid="$(id -g "$account")" --clear-groups --)
    fi
    ln -s "$programs" "$postgres/bin"
    (cd / && "${as[@]}" "$programs/initdb" -D "$postgres/data" -U martlet -A trust --no-sync -E UTF8 --locale=C) \
        >"$work/postgres.log" 2>&1 || { cat "$work/postgres.log" >&2; exit 1; }
    printf '#!/bin/sh\ncd / && exec %s %s/postgres -D %s/data -k %s -c listen_addresses= -c shared_buffers=64MB %s\n' \
        "${as[*]}" "$programs" "$postgres" "$postgres" "$*" >"$postgres/run"
    chmod 755 "$postgres/run"
    start postgres "$postgres/run"
    for _ in $(seq 600); do
        kill -0 "${servers[-1]}" 2>/dev/null || break
        if "$programs/psql" -X -q -h "$postgres" -U martlet -d postgres -c 'CREATE DATABASE martlet' 2>>"$work/postgres.log"; then return; fi
        sleep 0.1
    done
    echo "PostgreSQL does not start:" >&2
    tail -n 15 "$work/postgres.log" >&2
    exit 1
}

# port_of NAME LISTENER: the port in the first address of that listener which a server has logged.
port_of() { grep -aoE "\"$2\":\"[^\"]+\"" "$work/$1.log" | head -n 1 | grep -oE ':[0-9]+' | tail -n 1 | tr -d :; }

# stop_server PID: asks it to end and waits for that.
stop_server() {
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# raise_open_files COUNT: lets this script and what it starts have that many files open; fails if the system forbids it.
raise_open_files() {
    [ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge "$1" ] || ulimit -n "$1" 2>/dev/null
}

# median: of the numbers in the lines that it reads; divide A B; cpu_ticks PID: the processor time of a process.
median() { sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
divide() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'; }
cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
