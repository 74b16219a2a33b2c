import GRDB

extension SQLiteStore {
    package func page(_ claim: ShardClaim, limit: Int, needs: RecipientProfileFields) async throws -> RecipientPage {
        try await self.pageReader.read(claim, from: self.database) { part, driver, database in
            let consent = try ConsentColumns(claim.notification, in: database)
            let query = RecipientQuery(part, limit: limit, needs: needs, consent: consent)
            let found = try query.fetch(driver: driver, in: database)
            return try Self.page(found, of: part, limit: limit, query, in: database)
        }
    }

    /// Adds the recipients whose devices have left to a page, and shortens it if they are many.
    private static func page(
        _ found: RecipientQuery.Found,
        of claim: ShardClaim,
        limit: Int,
        _ query: RecipientQuery,
        in database: Database
    ) throws -> RecipientPage {
        // The recipient of a named token is its position, below zero.
        let ids = [found.recipients.last?.id, found.ended.last?.id, found.held.last].compactMap { $0.map(abs) }
        let isFull = found.recipients.count + found.ended.count + found.held.count >= limit
        var page = RecipientPage(
            recipients: found.recipients,
            ended: found.ended,
            cursor: isFull ? ids.max() ?? claim.end : claim.end,
            isLast: !isFull
        )
        page.readAt = try RegistrationChanges.clock(in: database)
        let left = try query.left(upTo: page.cursor, in: database)
        if left.count >= limit, let last = left.last, last < page.cursor {
            // More devices have left than a page holds: the others come with the next page.
            page.recipients.removeAll { $0.id > last }
            page.ended.removeAll { $0.id > last }
            (page.cursor, page.isLast) = (last, false)
        }
        page.held = left + found.held.filter { $0 <= page.cursor }
        return page
    }
}
