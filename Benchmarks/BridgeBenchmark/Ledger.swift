import ArgumentParser
import Benchmarking
import Foundation
import GRDB
import ProviderAPI
import ProviderModel

/// Checks the database of a provider that has ended: every notification is there once, has ended, and its one recipient was
/// accepted.
struct Ledger: AsyncParsableCommand {
    @Option(help: "The provider's data directory.") var dataDirectory: String
    @Option(help: "Notifications in all.") var count: Int

    func run() async throws {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(
            path: ProviderConfiguration(dataDirectory: self.dataDirectory).databasePath,
            configuration: configuration
        )
        try await database.read { database in
            func count(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
            let notifications = try count(
                "SELECT count(*) FROM notification WHERE state = 'done' AND origin LIKE 'matrix %'"
            )
            let accepted = try count("SELECT count(*) FROM delivery WHERE state = 1")
            let left =
                try count("SELECT count(*) FROM retry")
                + count("SELECT count(*) FROM notification WHERE state <> 'done'")
            guard notifications == self.count, accepted == self.count, left == 0 else {
                let found = "\(notifications) notifications, \(accepted) accepted, \(left) left over"
                throw BenchmarkFailure("the ledger has \(found) in place of \(self.count)")
            }
            figure("matrix_ledger", Double(accepted), "notifications, each accepted once")
            let verdict = try String.fetchAll(database, sql: "PRAGMA integrity_check").joined(separator: "; ")
            guard verdict == "ok" else { throw BenchmarkFailure("the database is damaged: \(verdict)") }
        }
        try database.close()
    }
}
