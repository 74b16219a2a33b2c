#if PostgreSQL
import Foundation
import PushSupport
import Synchronization
package import Testing

/// A server of PostgreSQL with its data in a temporary folder, behind a local socket. It ends with this process.
package final class PostgreSQLServer: Sendable {
    package static let isInstalled: ConditionTrait = .enabled(
        if: PostgreSQLServer.programs != nil,
        "\(PostgreSQLServer.absence)"
    )
    static let absence = "no server of PostgreSQL is installed: run scripts/setup postgres"

    private static let started = Result { try PostgreSQLServer() }
    package static var shared: PostgreSQLServer { get throws { try self.started.get() } }

    /// The folder of `initdb`, `postgres` and `psql`; `nil` if they are not installed.
    static let programs: String? = {
        let files = FileManager.default
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let debian = (try? files.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders = path + debian.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        return folders.first { folder in
            ["initdb", "postgres", "psql"].allSatisfy { files.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }()

    private struct Failure: Error, CustomStringConvertible { var description: String }

    package let folder: String
    private let programs: String
    private let process: Process
    /// The pipe whose end tells the script that this process has ended.
    private let life = Pipe()
    private let names = Mutex(0)

    private init() throws {
        guard let programs = Self.programs else { throw Failure(description: "no server is installed") }
        self.programs = programs
        // The path of a local socket has at most 107 bytes.
        self.folder = "/tmp/martlet-pq-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        let script = """
            "$1/initdb" -D "$2/data" -U martlet -A trust --no-sync -E UTF8 --locale=C >"$2/initdb.log" 2>&1 &&
            { "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=300 \
            -c shared_buffers=64MB -c autovacuum=off >"$2/log" 2>&1 & server=$!
            cat >/dev/null; kill -QUIT $server; wait $server; }
            rm -rf "$2"
            """
        self.process = Process()
        var arguments = ["/bin/sh", "-c", script, "postgres", programs, self.folder]
        if getuid() == 0 {
            // The server does not run as root.
            let user = getpwnam("postgres") == nil ? "nobody" : "postgres"
            guard let entry = getpwnam(user)?.pointee, chown(self.folder, entry.pw_uid, entry.pw_gid) == 0 else {
                throw Failure(description: "there is no user for the server")
            }
            arguments =
                ["setpriv", "--reuid=\(entry.pw_uid)", "--regid=\(entry.pw_gid)", "--clear-groups", "--"] + arguments
        }
        self.process.executableURL = URL(filePath: "/usr/bin/env")
        self.process.arguments = arguments
        self.process.standardInput = self.life
        self.process.currentDirectoryURL = URL(filePath: "/")
        try self.process.run()
        let end = ContinuousClock.now + .seconds(120)
        while !self.isReady {
            guard .now < end, self.process.isRunning else {
                let log = try? String(contentsOfFile: "\(self.folder)/log", encoding: .utf8)
                throw Failure(description: "the server does not start: \(log ?? "initdb has failed")")
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// Whether the server says in the file of its process that it takes connections.
    private var isReady: Bool {
        let lines = (try? String(contentsOfFile: "\(self.folder)/data/postmaster.pid", encoding: .utf8)) ?? ""
        return lines.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(7).first?.hasPrefix("ready")
            ?? false
    }

    /// Returns the address of a database.
    /// - Parameter folder: The folder of the socket; `nil` for that of the server.
    package func address(database: String = "postgres", schema: String = "public", folder: String? = nil) -> String {
        """
        host=\(folder ?? self.folder) user=martlet dbname=\(database) sslmode=disable \
        options='-c search_path=\(schema)'
        """
    }

    /// Returns a name that no database and no schema of the server has.
    package func newName() -> String {
        self.names.withLock { number in
            number += 1
            return "test\(number)"
        }
    }

    /// Runs statements in the database `postgres`.
    package func run(_ sql: String) async throws {
        try await runBlocking {
            let process = Process()
            process.executableURL = URL(filePath: "\(self.programs)/psql")
            let connection = ["-h", self.folder, "-U", "martlet", "-d", "postgres"]
            process.arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1"] + connection + ["-c", sql]
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw Failure(description: "psql failed: \(sql)") }
        }
    }
}
#endif
