import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func deactivated(_ filter: DeactivationFilter, app: Int64) async throws -> Int {
        var (count, position) = (0, DeactivationSearch.Position?.some(.init()))
        while let start = position {
            let search = DeactivationSearch(filter, app: app)
            let page = try await self.database.query { try search.page(after: start, in: $0) }
            count += page.found.count
            position = page.next
        }
        return count
    }

    package func reactivate(
        _ filter: DeactivationFilter,
        app: Int64,
        limit: Int,
        now: Timestamp
    ) async throws -> Reactivation {
        var result = Reactivation(devices: 0, isComplete: false)
        var position = DeactivationSearch.Position?.some(.init())
        while let start = position, result.devices < limit {
            // The devices are reactivated in several transactions, so that other writers do not wait long.
            let (count, next) = try await self.database.write { database in
                let page = try DeactivationSearch(filter, app: app).page(after: start, in: database)
                try TokenEventWriter(app: app, now: now, in: database).reactivate(page.found)
                return (page.found.count, page.next)
            }
            result.devices += count
            position = next
        }
        result.isComplete = position == nil
        return result
    }
}

extension TokenEventWriter {
    fileprivate func reactivate(_ found: [TokenEventRecord]) throws {
        guard !found.isEmpty else { return }
        for event in found {
            try self.database.run(sql: "UPDATE device SET isActive = 1, suspicions = 0 WHERE id = ?", event.device)
            try self.add(
                .reactivated,
                device: event.device,
                token: event.token,
                environment: event.environment,
                reason: "undone: \(event.reason ?? "no reason")",
                notification: event.notification
            )
        }
        try self.announce()
    }
}

private struct DeactivationSearch {
    /// The position in the token history after which a page begins.
    struct Position: Sendable {
        var environment = PushEnvironment.production
        var after: Int64 = 0
    }

    private static let size = 2000

    private let filter: DeactivationFilter
    private let app: Int64

    init(_ filter: DeactivationFilter, app: Int64) { (self.filter, self.app) = (filter, app) }

    /// Returns the deactivations on a page whose devices have been inactive ever since and still have the same token,
    /// and the position of the next page, or `nil` after the last page.
    func page(after start: Position, in database: any SQLConnection) throws -> (
        found: [TokenEventRecord], next: Position?
    ) {
        guard self.filter.environment ?? start.environment == start.environment
        else { return ([], Self.following(start.environment)) }
        let sql = """
            SELECT event.*, device.id IS NOT NULL AND at >= ?4 AND at < ?5 AND (CAST(?6 AS TEXT) IS NULL OR event.reason = ?6)
                AND (CAST(?7 AS TEXT) IS NULL OR event.notification = ?7) AND NOT EXISTS (
                    SELECT 1 FROM tokenEvent AS later INDEXED BY tokenEventByToken
                    WHERE later.token = event.token AND later.id > event.id AND later.device = event.device
                        AND later.action IN ('deactivated', 'moved')) AS isSelected
            FROM (
                SELECT * FROM tokenEvent INDEXED BY tokenEventByAction
                WHERE action = 'deactivated' AND app = ?1 AND environment = ?2 AND id > ?3 ORDER BY id LIMIT \(Self.size)
            ) AS event
            LEFT JOIN device ON device.id = event.device AND device.isActive = 0 AND device.hasLeft = 0
                AND device.token = event.token AND device.environment = event.environment
            """
        let arguments: SQLArguments = [
            self.app, start.environment.code, start.after, self.filter.from.milliseconds,
            self.filter.to.milliseconds, self.filter.reason, self.filter.notification?.uuidString,
        ]
        let rows = try database.rows(sql: sql, arguments)
        let found = try rows.filter { $0["isSelected"] as Bool? == true }.compactMap {
            try $0.readable(TokenEventRecord.init(row:))
        }
        guard rows.count == Self.size, let last = rows.compactMap({ $0["id"] as Int64? }).max()
        else { return (found, Self.following(start.environment)) }
        return (found, Position(environment: start.environment, after: last))
    }

    private static func following(_ environment: PushEnvironment) -> Position? {
        environment == .production ? Position(environment: .sandbox) : nil
    }
}
