import GRDB
package import PushTypes

extension SQLiteStore {
    package func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage {
        try await self.write([page], begins: true, now: now).first ?? StartedPage(result: .leaseLost, started: [])
    }

    package func commit(_ pages: [PageResult], now: Timestamp) async throws -> [CommitResult] {
        try await self.write(pages, begins: false, now: now).map(\.result)
    }

    private func write(_ pages: [PageResult], begins: Bool, now: Timestamp) async throws -> [StartedPage] {
        let owner = try await self.owner.number(self.database)
        let (results, statistics, reasons, connections) = try await self.database.write { database in
            let (reasons, connections) = (self.reasons.lookup(), self.connections.lookup())
            let statistics = StatisticCounter()
            let results = try pages.map { page in
                // They are the app's, also where the notification is gone.
                for request in page.environmentPauses {
                    _ = try EnvironmentPauses.write(request, now: now, in: database)
                }
                return try PageCommit(
                    page,
                    begins: begins,
                    owner: owner,
                    now: now,
                    reasons: reasons,
                    connections: connections,
                    statistics: statistics,
                    database: database
                )?
                .run() ?? StartedPage(result: .leaseLost, started: [])
            }
            return (results, statistics.apps, reasons.found, connections.found)
        }
        self.pendingStatistics.add(statistics, now: now)
        self.reasons.remember(reasons)
        self.connections.remember(connections)
        return results
    }
}
