#if PostgreSQL
import Foundation
import Synchronization
import Testing

@testable import PushStore

/// A server of PostgreSQL with its data in a temporary folder, behind a local socket. It ends with this process.
final class PostgreSQLServer: Sendable {
    static let isInstalled: ConditionTrait = .enabled(
        if: PostgreSQLServer.programs != nil,
        "no server of PostgreSQL is installed: run scripts/setup postgres"
    )

    private static let started = Result { try PostgreSQLServer() }
    static var shared: PostgreSQLServer { get throws { try self.started.get() } }

    /// The folder of `initdb` and `postgres`.
    private static let programs: String? = {
        let files = FileManager.default
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let debian = (try? files.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders = path + debian.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
        return folders.first { folder in
            ["initdb", "postgres"].allSatisfy { files.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }()

    private struct Failure: Error, CustomStringConvertible { var description: String }

    let folder: String
    private let process: Process
    /// The pipe whose end tells the script that this process has ended.
    private let life = Pipe()
    private let schemas = Mutex(0)

    private init() throws {
        guard let programs = Self.programs else { throw Failure(description: "no server is installed") }
        // The path of a local socket has at most 107 bytes.
        self.folder = "/tmp/martlet-pq-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: false)
        let script = """
            "$1/initdb" -D "$2/data" -U martlet -A trust --no-sync -E UTF8 --locale=C >"$2/initdb.log" 2>&1 &&
            { "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=60 \
            -c shared_buffers=32MB -c autovacuum=off >"$2/log" 2>&1 & server=$!
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
        let settings = try self.settings()
        let end = ContinuousClock.now + .seconds(120)
        while (try? PostgreSQLConnection(settings)) == nil {
            guard .now < end, self.process.isRunning else {
                let log = try? String(contentsOfFile: "\(self.folder)/log", encoding: .utf8)
                throw Failure(description: "the server does not start: \(log ?? "initdb has failed")")
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// Returns the settings of connections to a socket in a folder, which is that of the server unless given.
    func settings(schema: String = "public", folder: String? = nil) throws -> PostgreSQLSettings {
        try PostgreSQLSettings(
            """
            host=\(folder ?? self.folder) user=martlet dbname=postgres sslmode=disable \
            options='-c search_path=\(schema)'
            """
        )
    }

    /// Returns the settings of connections to a new, empty schema.
    func empty(folder: String? = nil) throws -> PostgreSQLSettings {
        let number = self.schemas.withLock { number in
            number += 1
            return number
        }
        let connection = try PostgreSQLConnection(self.settings())
        try connection.command("CREATE SCHEMA test\(number)")
        return try self.settings(schema: "test\(number)", folder: folder)
    }

    func connection() throws -> PostgreSQLConnection { try PostgreSQLConnection(self.empty()) }
}

extension SQLConnection {
    /// The process of the server that serves the connection.
    var backend: Int64 { get throws { try self.integer(sql: "SELECT pg_backend_pid()") ?? 0 } }

    /// Ends the connection of another process of the server, and waits until that process has ended.
    func terminate(_ backend: Int64) throws {
        try self.run(sql: "SELECT pg_terminate_backend(CAST(? AS int), 10000)", backend)
    }

    /// Waits until a query has a row.
    func wait(forRow sql: String, _ arguments: SQLArguments = []) throws {
        let end = ContinuousClock.now + .seconds(30)
        while try !self.hasRow(sql: sql, arguments) {
            try #require(ContinuousClock.now < end, "\(sql) has no row")
            Thread.sleep(forTimeInterval: 0.01)
        }
    }
}
#endif
