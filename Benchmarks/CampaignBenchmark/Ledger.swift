import ArgumentParser
import Benchmarking
import Foundation
import GRDB
import ProviderAPI
import ProviderModel

/// Checks the database of a provider that has ended: every recipient of every notification has one final state, nothing is
/// pending, and the file is intact.
struct Ledger: AsyncParsableCommand {
    private static let states = ["begun", "accepted", "rejected", "failed", "skipped", "unknown"]

    @Option(help: "The provider's data directory.") var dataDirectory: String
    @Option(help: "Recipients of each campaign.") var count: Int
    @Option(help: "How the figures begin.") var name = "ledger"

    func run() async throws {
        var configuration = Configuration()
        configuration.readonly = true
        let database = try DatabaseQueue(
            path: ProviderConfiguration(dataDirectory: self.dataDirectory).databasePath,
            configuration: configuration
        )
        try await database.read { try self.check($0) }
        try database.close()
    }

    private func check(_ database: Database) throws {
        let counts = try Row.fetchAll(
            database,
            sql: """
                SELECT notification, lane, count(*) AS count FROM delivery JOIN notification ON number = notification
                GROUP BY notification
                """
        )
        for row in counts where row["lane"] == 1 && row["count"] != self.count {
            throw BenchmarkFailure("notification \(row["notification"] as Int64) has \(row["count"] as Int) deliveries")
        }
        let leftovers = [
            "retries": "SELECT count(*) FROM retry", "shards": "SELECT count(*) FROM shard WHERE isDone = 0",
            "leases": "SELECT count(*) FROM shard WHERE lease IS NOT NULL",
            "notifications": "SELECT count(*) FROM notification WHERE state <> 'done'",
        ]
        for (what, sql) in leftovers {
            let count = try Int.fetchOne(database, sql: sql) ?? 0
            guard count == 0 else { throw BenchmarkFailure("\(count) \(what) are left over") }
        }
        let states = try Row.fetchAll(
            database,
            sql: "SELECT state, count(*) AS count FROM delivery GROUP BY state ORDER BY state"
        )
        for row in states {
            let state = Self.states[min(Self.states.count - 1, max(0, row["state"]))]
            figure("\(self.name)_\(state)", row["count"], "deliveries")
        }
        let inactive = try Int.fetchOne(database, sql: "SELECT count(*) FROM device WHERE isActive = 0") ?? 0
        figure("\(self.name)_inactive", Double(inactive), "devices")
        let verdict = try String.fetchAll(database, sql: "PRAGMA integrity_check").joined(separator: "; ")
        guard verdict == "ok" else { throw BenchmarkFailure("the database is damaged: \(verdict)") }
    }
}
