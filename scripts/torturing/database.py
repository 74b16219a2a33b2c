"""The server of PostgreSQL that scripts/lib.sh has started, and what is asked of it."""

import atexit
import os
import signal
import subprocess
import time

from basics import fail

SEPARATOR = "\x1f"


class Database:
    def __init__(self, folder, log):
        self.folder, self.log, self.socket = folder, log, f"{folder}/.s.PGSQL.5432"

    def ask(self, sql):
        """Rows of texts; None without an answer."""
        result = subprocess.run(
            [f"{self.folder}/bin/psql", "-X", "-q", "-A", "-t", "-F", SEPARATOR, "-v", "ON_ERROR_STOP=1",
             "-h", self.folder, "-U", "martlet", "-d", "martlet", "-c", sql], capture_output=True, text=True)
        if result.returncode == 0:
            return [line.split(SEPARATOR) for line in result.stdout.splitlines()]
        # 1 and 3 are faults of the question, 2 is a lost connection.
        if result.returncode != 2 and "connection" not in result.stderr and "FATAL" not in result.stderr:
            fail(f"{sql}: {result.stderr}")
        return None

    def rows(self, sql, seconds=30):
        end = time.monotonic() + seconds
        while (rows := self.ask(sql)) is None:
            if time.monotonic() > end:
                fail("the database does not answer")
            time.sleep(0.1)
        return rows

    def number(self, sql):
        return int(self.rows(sql)[0][0])

    def process(self):
        """The number of its process; None while it is down."""
        try:
            with open(f"{self.folder}/data/postmaster.pid") as file:
                process = int(file.readline())
            os.kill(process, 0)
            return process
        except (OSError, ValueError):
            return None

    def crash(self):
        """Ends at once, and writes nothing more: it has to recover."""
        process = self.process()
        if process is None:
            fail("the database has ended by itself")
        os.kill(process, signal.SIGQUIT)
        end = time.monotonic() + 30
        while time.monotonic() < end and os.path.exists(f"/proc/{process}/stat") and not self.is_zombie(process):
            time.sleep(0.02)

    @staticmethod
    def is_zombie(process):
        try:
            with open(f"/proc/{process}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def start(self):
        with open(self.log, "ab") as log:
            process = subprocess.Popen(f"{self.folder}/run", stdout=log, stderr=log)
        # Before the script removes its data, it has ended.
        atexit.register(lambda: process.poll() is None and (process.send_signal(signal.SIGQUIT), process.wait()))
        self.rows("SELECT 1", 60)

    def make_standby(self):
        """Another server, which has committed whatever this one has answered for from now on."""
        owner = os.stat(f"{self.folder}/data")
        standby = Database(f"{self.folder}-b", self.log)
        os.mkdir(standby.folder)
        os.chown(standby.folder, owner.st_uid, owner.st_gid)
        os.chmod(standby.folder, 0o711)
        os.symlink(os.readlink(f"{self.folder}/bin"), f"{standby.folder}/bin")
        with open(f"{self.folder}/run") as file:
            script = file.read().replace(f"{self.folder}/data", f"{standby.folder}/data").replace(f"-k {self.folder}", f"-k {standby.folder}")
        with open(f"{standby.folder}/run", "w") as file:
            file.write(script)
        os.chmod(f"{standby.folder}/run", 0o755)
        user = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.getuid() == 0 else {}
        copy = subprocess.run(
            [f"{self.folder}/bin/pg_basebackup", "-h", self.folder, "-U", "martlet", "-D", f"{standby.folder}/data", "-R",
             "-X", "stream", "-c", "fast"], capture_output=True, text=True, cwd="/", **user)
        if copy.returncode:
            fail(f"no standby can be made: {copy.stderr}")
        standby.start()
        self.rows("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.rows("SELECT pg_reload_conf()")
        end = time.monotonic() + 60
        while self.rows("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != [["1"]]:
            if time.monotonic() > end:
                fail("the standby does not follow")
            time.sleep(0.1)
        return standby

    def promote(self):
        self.rows("ALTER SYSTEM RESET synchronous_standby_names")
        self.rows("SELECT pg_promote()")
        self.rows("SELECT pg_reload_conf()")

    def end_connections(self):
        return self.ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                        " WHERE pid != pg_backend_pid() AND backend_type = 'client backend'")
