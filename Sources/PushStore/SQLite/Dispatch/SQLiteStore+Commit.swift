import Foundation
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
        let (results, reasons) = try await self.database.write { database in
            let reasons = self.reasons.lookup()
            let results = try pages.map { page in
                try PageCommit(page, begins: begins, owner: owner, now: now, reasons: reasons, database: database)?
                    .run() ?? StartedPage(result: .leaseLost, started: [])
            }
            return (results, reasons.found)
        }
        self.reasons.remember(reasons)
        return results
    }
}
