# Shared by the scripts that start servers: a working directory, certificates, and servers that end with the script.
work=$(mktemp -d)
servers=()
cleanup() {
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
    wait 2>/dev/null || true
    [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap cleanup EXIT

# start LOG COMMAND…: a server in the background, ended by its process id when the script ends.
start() {
    local log=$1
    shift
    "$@" >"$work/$log.log" 2>&1 &
    servers+=($!)
}

# await PORT NAME: until a server listens, 10 s at most.
await() {
    for _ in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
        sleep 0.1
    done
    echo "$2 does not listen on port $1:" >&2
    tail -n 15 "$work/$2.log" >&2
    exit 1
}

# free_port: one that nobody listens on now.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 20000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
    done
}

# A certificate for localhost that is its own authority, a signing key, a payload of usual size.
make_identity() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$work/server.key" -out "$work/server.pem" 2>/dev/null
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/key.p8" 2>/dev/null
    printf '%s' '{"aps":{"alert":{"title":"Hello","body":"World, this is a push of ordinary size"},"badge":3,' \
        '"sound":"default"},"id":12345678}' >"$work/payload.json"
}

# start_gateway DATA [OPTION…]: a gateway on free ports; sets gateway_pid, http2_port, courier_port and admin_port.
start_gateway() {
    local data=$1
    shift
    : >"$work/gateway.log"
    start gateway "$martlet" gateway --data-directory "$data" --environment sandbox --port 0 \
        --log-format json "$@"
    gateway_pid=${servers[-1]}
    for _ in $(seq 300); do
        if grep -q '"gateway is open"' "$work/gateway.log"; then
            http2_port=$(port_of http2) courier_port=$(port_of courier) admin_port=$(port_of admin)
            return 0
        fi
        kill -0 "$gateway_pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "the gateway does not open:" >&2
    tail -n 15 "$work/gateway.log" >&2
    exit 1
}

# port_of DOOR: the first address of that name which the gateway has logged.
port_of() { grep -oE "\"$1\":\"[^\"]+:[0-9]+\"" "$work/gateway.log" | head -n 1 | grep -oE '[0-9]+"$' | tr -d '"'; }

# stop_server PID: asks it to end and waits for that.
stop_server() {
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# raise_open_files COUNT: lets this script and what it starts have that many files open; fails if the system forbids it.
raise_open_files() {
    [ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge "$1" ] || ulimit -n "$1" 2>/dev/null
}
