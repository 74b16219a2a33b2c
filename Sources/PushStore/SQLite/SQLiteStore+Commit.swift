import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func begin(_ page: PageResult, now: Timestamp) async throws -> StartedPage {
        try await self.write([page], begins: true, now: now).first ?? StartedPage(answer: .notYours, begun: [])
    }

    package func commit(_ pages: [PageResult], now: Timestamp) async throws -> [CommitResult] {
        try await self.write(pages, begins: false, now: now).map(\.answer)
    }

    private func write(_ pages: [PageResult], begins: Bool, now: Timestamp) async throws -> [StartedPage] {
        let owner = try await self.owner.number(self.database)
        let (answers, reasons) = try await self.database.write { database in
            let reasons = self.reasons.lookup()
            let answers = try pages.map { page in
                try PageCommit(page, begins: begins, owner: owner, now: now, reasons: reasons, database: database)?
                    .run() ?? StartedPage(answer: .notYours, begun: [])
            }
            return (answers, reasons.found)
        }
        self.reasons.remember(reasons)
        return answers
    }
}
