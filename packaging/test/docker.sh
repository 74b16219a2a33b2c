# A Docker daemon of its own for scripts/image, in network and mount namespaces of its own.
work=$(mktemp -d)
daemon=
cleanup() {
    if [ -n "$daemon" ]; then
        docker ps --quiet 2>/dev/null | xargs -r docker kill >/dev/null 2>&1 || true
        kill "$(cat "$work/docker.pid")" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap cleanup EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }

# start_docker: starts the daemon, and makes the commands below use it.
start_docker() {
    export DOCKER_HOST=unix://$work/docker.sock
    unshare --net --mount --propagation private bash -c 'ip link set lo up && exec dockerd --storage-driver vfs \
        --data-root "$0/docker" --exec-root "$0/exec" --pidfile "$0/docker.pid" --host "unix://$0/docker.sock"' "$work" \
        >"$work/docker.log" 2>&1 &
    daemon=$!
    for _ in $(seq 300); do
        ! docker info >/dev/null 2>&1 || return 0
        kill -0 "$daemon" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 20 "$work/docker.log" >&2
    fail "the Docker daemon does not start"
}

# compose ARGUMENT…: Compose with packaging/compose.yml, as a plug-in of Docker or as Debian's program.
compose() {
    if docker compose version >/dev/null 2>&1; then
        docker compose --file packaging/compose.yml --project-name martlet "$@"
    else
        docker-compose --file packaging/compose.yml --project-name martlet "$@"
    fi
}

# await_health CONTAINER: waits until its health check succeeds, 60 s at most.
await_health() {
    for _ in $(seq 600); do
        [ "$(docker inspect --format '{{.State.Health.Status}}' "$1")" != healthy ] || return 0
        sleep 0.1
    done
    docker logs "$1" >&2
    fail "$1 does not become healthy: $(docker inspect --format '{{json .State.Health}}' "$1")"
}

# await_text TEXT FILE: waits until the file contains the text, 30 s at most.
await_text() {
    for _ in $(seq 600); do
        ! grep -qF -- "$1" "$2" || return 0
        sleep 0.05
    done
    cat "$2" >&2
    fail "no '$1'"
}
