# The steps of scripts/package-test. Each is a function that fails on the first difference.

# readme_commands: the commands of the README's section on the installation, as they are there.
readme_commands() {
    awk '/^## / { section = $0 } section == "## Install" && /^```/ { inside = /^```sh/; next }
        section == "## Install" && inside' README.md
}

# api COMMAND…: a martlet command as the user, with the admin key.
api() { as_user "MARTLET_API_KEY=$key MARTLET_API_APP=${app:-com.example.MyApp} martlet $*"; }

# journal UNIT: its latest lines, as the package's own message recommends to look at them.
journal() { as_root journalctl --no-pager --output cat --lines 20 --unit "$1"; }

# send_and_receive BODY: sends a notification through the services and waits until the device shows it.
send_and_receive() {
    api send --app com.example.MyApp --user me --title Hello --body "'$1'" --wait >"$work/send.log" 2>&1 ||
        fail "send: $(cat "$work/send.log")"
    as_user 'timeout 30 martlet device --topic com.example.MyApp' >"$work/device.log" 2>&1 &
    await_text "body: $1" "$work/device.log"
    end_device
}

# end_device: Ctrl-C for the device.
end_device() { pkill -INT --ns "$leader" --nslist pid -f '^martlet device --topic' || fail "no device runs"; }

# await_text TEXT FILE: waits until the file contains the text, 30 s at most.
await_text() {
    for _ in $(seq 600); do
        ! grep -qF -- "$1" "$2" || return 0
        sleep 0.05
    done
    fail "no '$1' in: $(cat "$2")"
}

first_notification() {
    files >"$work/before"
    cp "$package" "$root/home/alice/"
    readme_commands >"$root/home/alice/readme"
    grep -q 'apt install' "$root/home/alice/readme" || fail "the README has no commands"
    chmod 0644 "$root"/home/alice/*
    local started commands
    started=$(now)
    # Only the last command runs on, until it is interrupted.
    as_user 'bash -euo pipefail readme' >"$work/readme.log" 2>&1 &
    commands=$!
    for _ in $(seq 2400); do
        ! grep -qF 'body: This went all the way round.' "$work/readme.log" || [ -n "${demo:-}" ] || demo=$(since "$started")
        ! grep -qF 'body: World' "$work/readme.log" || break
        kill -0 "$commands" 2>/dev/null || fail "the README's commands ended: $(tail -n 20 "$work/readme.log")"
        sleep 0.05
    done
    grep -qF 'body: World' "$work/readme.log" || fail "no notification: $(tail -n 20 "$work/readme.log")"
    local seconds
    seconds=$(since "$started")
    end_device
    figure package.firstDemo "$demo" "seconds from the first command of the README"
    figure package.firstNotification "$seconds" "seconds from the first command of the README"
    awk -v s="$seconds" 'BEGIN { exit !(s < 30) }' || fail "the first notification took $seconds s"
    key=$(as_root cat /var/lib/martlet/first-admin.key)
}

installed_files() {
    expect "$version" as_user 'martlet --version'
    expect "700 martlet martlet" as_root stat -c '%a %U %G' /var/lib/martlet
    expect "700 martlet-gateway martlet-gateway" as_root stat -c '%a %U %G' /var/lib/martlet-gateway
    expect "600 martlet martlet" as_root stat -c '%a %U %G' /var/lib/martlet/first-admin.key
    expect "600 root root" as_root stat -c '%a %U %G' /etc/martlet/martlet.env
    refuse as_user 'cat /var/lib/martlet/first-admin.key'
    local unit level
    for unit in martlet martlet-gateway; do
        expect active as_root systemctl is-active "$unit"
        expect enabled as_root systemctl is-enabled "$unit"
        as_root systemd-analyze verify --man=no "$unit.service" || fail "systemd-analyze verify $unit"
        level=$(as_root systemd-analyze security --no-pager "$unit.service" | awk '/Overall exposure/ { print $(NF - 2) }')
        awk -v l="$level" 'BEGIN { exit !(l > 0 && l <= 1.5) }' || fail "the exposure of $unit is $level"
        figure "package.exposure.$unit" "$level" "of 10, systemd-analyze security"
        ! journal "$unit" | grep -iE 'error|denied|failed' || fail "the journal of $unit has errors"
    done
    expect martlet as_user "bash -ic 'source /usr/share/bash-completion/completions/martlet; complete -p martlet'"
    # The script can be run any number of times.
    as_root env DPKG_MAINTSCRIPT_PACKAGE=martlet /var/lib/dpkg/info/martlet.postinst configure "$(scripts/version --debian)" >/dev/null || fail "postinst, again"
    expect active as_root systemctl is-active martlet
}

changed_settings() {
    sed -i 's/"serve": {/"serve": {\n    "port": 8081,/' "$root/etc/martlet/martlet.json"
    as_root systemctl restart martlet || fail "a changed port: $(journal martlet)"
    expect 127.0.0.1:8081 journal martlet
    expect ready as_user 'MARTLET_API_SERVER=http://127.0.0.1:8081 martlet status'
    sed -i 's/"port": 8081/"port": 8080/' "$root/etc/martlet/martlet.json"
    as_root systemctl restart martlet
    send_and_receive "after a change"
}

# A wrong setting is an error of `systemctl restart`, and the journal names it.
wrong_settings() {
    cp "$root/etc/martlet/martlet.json" "$work/martlet.json"
    local wrong
    for wrong in '"port": "eighty" serve.port' '"dataDirectory": "/srv/nowhere" /srv/nowhere' '"port": 2197 2197'; do
        sed -i -E "/${wrong%%:*}:/d; s|\"serve\": \{|\"serve\": {\n    ${wrong% *},|" "$root/etc/martlet/martlet.json"
        refuse as_root systemctl restart martlet
        expect "${wrong##* }" journal martlet
        cp "$work/martlet.json" "$root/etc/martlet/martlet.json"
        as_root systemctl stop martlet
        as_root systemctl reset-failed martlet
    done
    as_root systemctl start martlet
}

upgrade() {
    sha256sum "$root"/etc/martlet/* >"$work/configuration"
    cp "$next" "$root/home/alice/next.deb"
    chmod 0644 "$root/home/alice/next.deb"
    # The administrator has changed the configuration, and the package too: the administrator's stays.
    as_user 'sudo apt-get install -y -o Dpkg::Options::=--force-confold ./next.deb' >"$work/upgrade.log" 2>&1 ||
        fail "the upgrade: $(cat "$work/upgrade.log")"
    sha256sum --quiet --check "$work/configuration" || fail "the upgrade has changed the configuration"
    [ -f "$root/etc/martlet/martlet.json.dpkg-dist" ] || fail "the package's configuration is not beside the changed one"
    expect "$next_version" as_user 'martlet --version'
    local unit
    for unit in martlet martlet-gateway; do
        expect active as_root systemctl is-active "$unit"
        expect /usr/bin/martlet as_root readlink "/proc/$(as_root systemctl show --property MainPID --value "$unit")/exe"
        refuse as_root sh -c "readlink /proc/$(as_root systemctl show --property MainPID --value "$unit")/exe | grep deleted"
    done
    figure package.upgradeDowntime "$(as_root systemctl show --property InactiveEnterTimestampMonotonic \
        --property ActiveEnterTimestampMonotonic --value martlet | sort -n | awk '{ t[NR] = $1 } END { print (t[2] - t[1]) / 1e6 }')" \
        "seconds without a provider"
    expect com.example.MyApp api app list
    send_and_receive "after the upgrade"
}

# A crash leaves its stack in the journal, with the names of functions if the package of symbols is there, and the service
# starts again.
crash() {
    cp "$symbols" "$root/home/alice/symbols.deb"
    chmod 0644 "$root/home/alice/symbols.deb"
    as_user 'sudo apt-get install -y ./symbols.deb' >"$work/symbols.log" 2>&1 || fail "symbols: $(cat "$work/symbols.log")"
    local pid
    pid=$(as_root systemctl show --property MainPID --value martlet)
    as_root systemctl kill --kill-whom=main --signal=ILL martlet
    for _ in $(seq 600); do
        ! as_root journalctl --no-pager --unit martlet | grep -q 'Backtrace took' || break
        sleep 0.05
    done
    expect "Program crashed" as_root journalctl --no-pager --unit martlet
    expect "_dispatch_sig_thread" as_root journalctl --no-pager --unit martlet
    # A signal from outside, unlike a crash, does not end the process.
    as_root systemctl kill --kill-whom=main --signal=KILL martlet
    for _ in $(seq 600); do
        [ "$(as_root systemctl show --property MainPID --value martlet)" = "$pid" ] ||
            [ "$(as_root systemctl is-active martlet)" != active ] || break
        sleep 0.05
    done
    as_user 'sudo apt-get purge -y martlet-dbgsym' >"$work/symbols.log" 2>&1 || fail "symbols: $(cat "$work/symbols.log")"
    send_and_receive "after a crash"
}

# A database of version 0.1.0 is migrated by the first start, and keeps what is in it.
old_database() {
    as_root systemctl stop martlet
    as_root mv /var/lib/martlet /var/lib/martlet.new
    local fixture=packaging/test/database-0.1.0 data=$root/var/lib/martlet
    mkdir -m 0700 "$data"
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())' \
        "$data/provider.sqlite" "$fixture/provider.sql"
    python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(open(sys.argv[1]).read()))' \
        "$fixture/master.key.hex" >"$data/master.key"
    chmod 0600 "$data"/*
    chown -R --reference="$root/var/lib/martlet.new" "$data"
    as_root systemctl start martlet || fail "a database of 0.1.0: $(journal martlet)"
    local key app=com.example.Old
    key=$(cat "$fixture/admin.key")
    expect com.example.Old api app list
    expect OLDKEY0001 api credential list
    expect alice api device list --user alice
    expect digest api schedule list
    expect https://example.com api webhook list
    as_root systemctl stop martlet
    expect "" as_root runuser --user martlet -- martlet check --data-directory /var/lib/martlet
    as_root rm -r /var/lib/martlet
    as_root mv /var/lib/martlet.new /var/lib/martlet
    as_root systemctl start martlet
}

removal() {
    as_user 'sudo apt-get remove -y martlet' >"$work/remove.log" 2>&1 || fail "the removal: $(cat "$work/remove.log")"
    refuse pgrep --ns "$leader" --nslist pid -x martlet
    [ ! -e "$root/usr/bin/martlet" ] || fail "the program is left"
    [ ! -e "$root/usr/lib/systemd/system/martlet.service" ] || fail "the unit is left"
    [ -s "$root/var/lib/martlet/provider.sqlite" ] || fail "a removal must keep the data"
    [ -s "$root/etc/martlet/martlet.json" ] || fail "a removal must keep the configuration"
}

reinstallation() {
    as_user 'sudo apt-get install -y ./next.deb' >"$work/reinstall.log" 2>&1 || fail "again: $(cat "$work/reinstall.log")"
    expect active as_root systemctl is-active martlet
    sha256sum --quiet --check "$work/configuration" || fail "the configuration is not the old one"
    expect com.example.MyApp api app list
    expect active as_root systemctl is-active martlet-gateway
    send_and_receive "after a removal"
}

purge() {
    # A file that the user has put there would stay.
    as_root rm /etc/martlet/authority.pem
    as_user 'sudo apt-get purge -y martlet' >"$work/purge.log" 2>&1 || fail "the purge: $(cat "$work/purge.log")"
    # What the package has brought with it is another package's.
    local left
    left=$(comm -13 "$work/before" <(files) | while read -r path; do
        chroot "$root" dpkg --search "${path#.}" >/dev/null 2>&1 || echo "${path#.}"
    done | grep -vE '^/etc/ssl/certs/|^/usr/(local/)?share/ca-certificates|^/etc/ca-certificates|-$' || true)
    [ -z "$left" ] || fail "files are left: $left"
    expect "no files" as_root sh -c 'find /etc /usr /var/lib/systemd /run/systemd -name "*martlet*" | grep . || echo no files'
}
