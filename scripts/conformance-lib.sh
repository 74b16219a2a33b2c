# shellcheck shell=bash
# Read by scripts/conformance, after scripts/lib.sh: what its parts share. Checks, a gateway, a provider and devices with one app,
# and Pythons with packages.
passed=0 failed=0

# check NAME EXPECTED ACTUAL
check() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$1"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s: %s instead of %s\n' "$1" "$3" "$2"
    fi
}

# finish: the number of checks, and the status.
finish() {
    echo "$passed passed, $failed failed"
    echo "figure conformance_checks_passed $passed of $((passed + failed))"
    [ "$failed" = 0 ]
    exit
}

# await SECONDS COMMAND…: waits until the command succeeds.
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

# api METHOD PATH [BODY]: a request to the provider; gateway_api to the gateway's admin API.
request() { curl -sS --max-time 30 -X "$1" -H 'content-type: application/json' "${@:4}" "$2" ${3:+-d "$3"}; }
api() { request "$1" "http://127.0.0.1:$api_port/v1/$2" "${3:-}" -H "authorization: Bearer $api_key"; }
gateway_api() { request "$1" "http://127.0.0.1:$admin_port/v1/$2" "${3:-}"; }

# gateway_app APP [MEMBERS]: adds an app and the signing key to the gateway.
gateway_app() {
    gateway_api POST apps "{\"teamId\":\"DEF123GHIJ\",\"bundleId\":\"$1\"${2:+,$2}}" >/dev/null
    gateway_api POST keys "{\"teamId\":\"DEF123GHIJ\",\"keyId\":\"ABC123DEFG\",\"key\":$(jq -Rs . <"$work/key.p8")}" >/dev/null
}

# provider_app APP: adds an app with the signing key for its sandbox to the provider.
provider_app() {
    api POST apps "{\"bundleId\":\"$1\"}" >/dev/null
    api PUT "apps/$1/credentials/sandbox" \
        "$(jq -n --rawfile key "$work/key.p8" '{teamId:"DEF123GHIJ",keyId:"ABC123DEFG",privateKey:$key}')" >/dev/null
}

# start_device NAME APP [OPTION…]: a device that writes what it receives as JSON to $work/device.NAME; sets device_pid.
start_device() {
    local name=$1 app=$2
    shift 2
    "$martlet" device run --topic "$app" --json --identity "$work/identity.$name" --port "$courier_port" \
        --admin-url "http://localhost:$admin_port" "$@" >"$work/device.$name" 2>"$work/device.$name.log" &
    device_pid=$!
    servers+=("$device_pid")
}

# device_token NAME: the token of a device, once it has one, 60 s at most.
device_token() {
    has_token() { grep -qs '^device token' "$work/device.$1.log"; }
    await 60 has_token "$1" || { tail "$work/device.$1.log" >&2; return 1; }
    sed -nE 's/^device token for .*: ([0-9a-f]+)$/\1/p' "$work/device.$1.log"
}

# make_venv NAME PACKAGE…: prints the path of a Python that has packages from PyPI. Why there is none is in $work/NAME.pip.
make_venv() {
    local name=$1
    shift
    { python3 -m venv "$work/$name.venv" &&
        "$work/$name.venv/bin/pip" install --quiet --disable-pip-version-check "$@"; } >"$work/$name.pip" 2>&1 || return 1
    echo "$work/$name.venv/bin/python"
}
