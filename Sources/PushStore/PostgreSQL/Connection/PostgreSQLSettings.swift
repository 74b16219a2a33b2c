#if PostgreSQL
import CLibPQ
import Foundation

/// The settings of the connections to PostgreSQL.
struct PostgreSQLSettings: Sendable, CustomStringConvertible {
    /// The maximum time of a statement, which the server keeps to.
    var statementTimeout: Duration = .seconds(30)
    /// The maximum time for which a statement waits for a lock.
    var lockTimeout: Duration = .seconds(2)
    /// The maximum time between two statements of a transaction.
    var idleTimeout: Duration = .seconds(10)
    /// The time beyond ``statementTimeout`` after which a server without an answer counts as lost.
    var answerGrace: Duration = .seconds(10)
    /// A Boolean value that indicates whether the server keeps prepared statements under names. Poolers that give each
    /// transaction another connection lose them, such as PgBouncer before 1.21. Then each execution sends its text.
    var namesStatements = true
    /// The maximum number of statements that a connection keeps.
    var maximumStatements = 512

    /// The parameters of libpq, of which a password is never one.
    private var parameters: [String: String]

    var longestAnswer: Duration { self.statementTimeout + self.answerGrace }

    /// The settings of a connection for work that may take long, such as migrations.
    var forMaintenance: PostgreSQLSettings {
        var settings = self
        (settings.statementTimeout, settings.lockTimeout) = (.seconds(3600), .seconds(60))
        return settings
    }

    /// The servers and the database, without the user.
    var description: String {
        let hosts = Self.list(self.parameters["host"] ?? self.parameters["hostaddr"] ?? "a local socket")
        return "PostgreSQL at \(hosts.joined(separator: ", ")), database \(self.parameters["dbname"] ?? "of the user")"
    }

    /// Parses an address.
    /// - Parameter address: A URL such as `postgres://martlet@db1,db2/martlet?passfile=/etc/martlet/pgpass`, or a list
    ///   of libpq's keywords such as `host=/run/postgresql dbname=martlet`.
    /// - Throws: ``PostgreSQLAddressError``.
    init(_ address: String) throws {
        self.parameters = try Self.parse(address)
        // A password in an argument is visible to every user of the machine.
        for secret in ["password", "sslpassword"] where self.parameters[secret] != nil {
            throw PostgreSQLAddressError(
                why: """
                    it contains a password, which other users of this machine could see: write it to a file of the form \
                    HOST:PORT:DATABASE:USER:PASSWORD that only its owner can read, and name the file with \
                    'passfile=FILE' or PGPASSFILE
                    """
            )
        }
        if let file = self.parameters["passfile"], !FileManager.default.isReadableFile(atPath: file) {
            throw PostgreSQLAddressError(why: "the file \(file) with the password cannot be read")
        }
        let defaults = [
            "application_name": "martlet", "client_encoding": "UTF8", "connect_timeout": "5", "gssencmode": "disable",
            "keepalives_count": "3", "keepalives_idle": "10", "keepalives_interval": "5", "sslmode": "verify-full",
            "target_session_attrs": "read-write", "tcp_user_timeout": "15000",
        ]
        self.parameters.merge(defaults) { given, _ in given }
        // An empty password keeps libpq from that in PGPASSWORD, and makes it look into the file.
        self.parameters["password"] = ""
        guard self.parameters["sslmode"] == "verify-full" || self.isLocal else {
            throw PostgreSQLAddressError(
                why: "without sslmode=verify-full it has to name 'localhost' or the folder of a local socket"
            )
        }
    }

    /// A Boolean value that indicates whether all servers are on this machine, by the address or by the environment.
    private var isLocal: Bool {
        let environment = ProcessInfo.processInfo.environment
        guard self.parameters["service"] == nil, environment["PGSERVICE"] == nil else { return false }
        let address = self.parameters["hostaddr"] ?? environment["PGHOSTADDR"]
        let hosts = Self.list(address ?? self.parameters["host"] ?? environment["PGHOST"] ?? "")
        return hosts.allSatisfy { host in
            host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@")
                || ["localhost", "127.0.0.1", "::1"].contains(host)
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the keywords of an address with their values. libpq's own message could contain a password.
    private static func parse(_ address: String) throws -> [String: String] {
        guard let options = PQconninfoParse(address, nil) else {
            throw PostgreSQLAddressError(why: "it is neither a URL 'postgres://…' nor a list of 'keyword=value'")
        }
        defer { PQconninfoFree(options) }
        var (parameters, option): ([String: String], _) = ([:], options)
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return parameters
    }

    /// Calls `body` with the keywords and their values as libpq takes them: two lists that end with NULL.
    func withParameters<Value>(
        _ body: ([UnsafePointer<CChar>?], [UnsafePointer<CChar>?]) -> Value
    ) -> Value {
        let strings = self.parameters.map { (strdup($0.key), strdup($0.value)) }
        defer {
            for (keyword, value) in strings {
                free(keyword)
                free(value)
            }
        }
        return body(strings.map { UnsafePointer($0.0) } + [nil], strings.map { UnsafePointer($0.1) } + [nil])
    }

    /// The commands that set the limits of the server, for the session or for its current transaction.
    func timeoutCommands(isLocal: Bool) -> String {
        [
            ("statement_timeout", self.statementTimeout), ("lock_timeout", self.lockTimeout),
            ("idle_in_transaction_session_timeout", self.idleTimeout),
        ]
        .map { name, limit in "SET \(isLocal ? "LOCAL" : "SESSION") \(name) = \(Int(limit / .milliseconds(1)))" }
        .joined(separator: ";")
    }
}

/// The error of an address of a database that cannot be used. It never contains the address.
struct PostgreSQLAddressError: Error, Hashable, CustomStringConvertible {
    var why: String
    var description: String { "the address of the database cannot be used: \(self.why)" }
}
#endif
