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

    /// The parameters of libpq, of which a password is never one, and none is empty.
    let parameters: [String: String]

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
        let given = try Self.parse(address)
        // A password in an argument is visible to every user of the machine.
        for secret in ["password", "sslpassword"] where given[secret] != nil {
            throw PostgreSQLAddressError(
                why: """
                    it contains a password, which other users of this machine could see: write it to a file of the form \
                    HOST:PORT:DATABASE:USER:PASSWORD that only its owner can read, and name the file with \
                    'passfile=FILE' or PGPASSFILE
                    """
            )
        }
        if let file = given["passfile"], !FileManager.default.isReadableFile(atPath: file) {
            throw PostgreSQLAddressError(why: "the file \(file) with the password cannot be read")
        }
        let defaults = [
            "application_name": "martlet", "client_encoding": "UTF8", "connect_timeout": "5", "gssencmode": "disable",
            "keepalives_count": "3", "keepalives_idle": "10", "keepalives_interval": "5", "sslmode": "verify-full",
            "target_session_attrs": "read-write", "tcp_user_timeout": "15000",
        ]
        self.parameters = given.merging(defaults) { given, _ in given }
        guard self.parameters["sslmode"] == "verify-full" || self.isLocal else {
            throw PostgreSQLAddressError(
                why: "without sslmode=verify-full it has to name 'localhost' or the folder of a local socket"
            )
        }
    }

    /// A Boolean value that indicates whether all servers are on this machine, by the address or by the environment.
    ///
    /// libpq connects to the address of a host, or to its name if that list has an empty place.
    private var isLocal: Bool {
        let environment = ProcessInfo.processInfo.environment
        guard self.parameters["service"] == nil, environment["PGSERVICE"] == nil else { return false }
        let hosts = [("hostaddr", "PGHOSTADDR"), ("host", "PGHOST")]
            .flatMap { Self.list(self.parameters[$0] ?? environment[$1] ?? "") }
        return hosts.allSatisfy { host in
            host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@")
                || ["localhost", "127.0.0.1", "::1"].contains(host)
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the keywords of an address with their values that are not empty. libpq's own message could contain a
    /// password.
    static func parse(_ address: String) throws -> [String: String] {
        guard let options = PQconninfoParse(address, nil) else {
            throw PostgreSQLAddressError(why: "it is neither a URL 'postgres://…' nor a list of 'keyword=value'")
        }
        defer { PQconninfoFree(options) }
        var (parameters, option): ([String: String], _) = ([:], options)
        while let keyword = option.pointee.keyword {
            let value = option.pointee.val.map { String(cString: $0) } ?? ""
            if !value.isEmpty { parameters[String(cString: keyword)] = value }
            option += 1
        }
        return parameters
    }

    /// The address with all parameters, as libpq parses it.
    ///
    /// The empty password keeps libpq from that in PGPASSWORD, and makes it look into the file. As one of the arguments
    /// of `PQconnectdbParams` it would be skipped.
    var connectionString: String {
        self.parameters.merging(["password": ""]) { _, password in password }
            .map { keyword, value in
                "\(keyword)='\(value.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
            }
            .joined(separator: " ")
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
