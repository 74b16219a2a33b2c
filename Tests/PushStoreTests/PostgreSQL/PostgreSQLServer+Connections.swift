#if PostgreSQL
import Foundation
import PushTesting
import Testing

@testable import PushStore

extension PostgreSQLServer {
    /// Returns the settings of connections to a socket in a folder, which is that of the server unless given.
    func settings(schema: String = "public", folder: String? = nil) throws -> PostgreSQLSettings {
        try PostgreSQLSettings(self.address(schema: schema, folder: folder))
    }

    /// Returns the settings of connections to a new, empty schema.
    func empty(folder: String? = nil) throws -> PostgreSQLSettings {
        let name = self.newName()
        let connection = try PostgreSQLConnection(self.settings())
        try connection.command("CREATE SCHEMA \(name)")
        return try self.settings(schema: name, folder: folder)
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
