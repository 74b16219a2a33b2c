import GRDB
import PushSupport
package import PushTypes
import Synchronization

extension SQLiteStore {
    package func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage {
        let results = try await self.writePages(now: now) { owner, parts, database in
            let begun = try PageCommit(page, begins: true, owner: owner, now: now, parts: parts, in: database)?.run()
            return begun ?? StartedPage(result: .leaseLost, started: [])
        }
        return results
    }

    package func write(_ writes: LedgerWrites, now: Timestamp, leaseUntil: Timestamp) async throws -> LedgerResults {
        try await self.writePages(now: now) { owner, parts, database in
            var acceptance = AcceptanceTransaction(owner: owner, leaseUntil: leaseUntil, in: database)
            let requests = try writes.requests.map { try acceptance.accept($0) }
            let pages = try writes.pages.map { page in
                try Self.commit(page, owner: owner, now: now, parts: parts, in: database)
            }
            return LedgerResults(requests: requests, pages: pages)
        }
    }

    private static func commit(
        _ page: PageResult,
        owner: Int64,
        now: Timestamp,
        parts: CommitParts,
        in database: Database
    ) throws -> CommitResult {
        // They are the app's, also where the notification is gone.
        for request in page.environmentPauses { _ = try EnvironmentPauses.write(request, now: now, in: database) }
        if let whole = try WholePageCommit(page, owner: owner, now: now, parts: parts, in: database) {
            try whole.run()
            return .inProgress
        }
        let commit = try PageCommit(page, begins: false, owner: owner, now: now, parts: parts, in: database)
        return try commit?.run().result ?? .leaseLost
    }

    /// Runs `body` in a transaction, with the parts that its pages share.
    private func writePages<Value: Sendable>(
        now: Timestamp,
        _ body: @Sendable (_ owner: Int64, CommitParts, Database) throws -> Value
    ) async throws -> Value {
        let owner = try await self.owner.number(self.database)
        let counted = Mutex<[Int64: StatisticCounter.Counts]>([:])
        do {
            let (value, reasons, connections) = try await self.database.write { database in
                let parts = CommitParts(reasons: self.reasons.values, connections: self.connections.values)
                let value = try body(owner, parts, database)
                try parts.end(in: database)
                counted.withLock { $0 = parts.statistics.apps }
                self.pendingStatistics.add(parts.statistics.apps, now: now)
                return (value, parts.reasons.found, parts.connections.found)
            }
            self.reasons.merge(reasons)
            self.connections.merge(connections)
            return value
        } catch {
            self.pendingStatistics.remove(counted.withLock { $0 }, now: now)
            throw error
        }
    }
}
