import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
    package func notifications(
        _ filter: NotificationFilter,
        sort: NotificationSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<NotificationRecord> {
        try await self.database.query { database in
            let scans = NotificationScans(filter: filter, sort: sort, after: after)
            let found =
                sort == .state
                ? try Self.byState(scans, limit: limit, in: database)
                : try Self.found(try scans.scans(state: nil, in: database), limit: limit, in: database)
            let entries = try found.numbers.compactMap { number in
                let row = try database.row(sql: "SELECT * FROM notification WHERE number = ?", [number])
                return try row?.readable { try NotificationRow.record($0, in: database) }
            }
            return ListPage(entries: entries, next: found.next)
        }
    }

    package func totalNotifications(_ filter: NotificationFilter) async throws -> ListTotal {
        try await self.database.query { database in
            let scans = NotificationScans(filter: filter, sort: .newest, after: nil)
            // Between the times there may be rows of others.
            let rows = filter.from == nil && filter.to == nil ? ListTotal.maximum : KeysetScan.maximumRows
            var total = ListTotal(count: 0, isExact: true)
            for scan in try scans.scans(state: nil, in: database) {
                let more = try scan.total(rows: rows, in: database)
                total.count += more.count
                total.isExact = total.isExact && more.isExact
            }
            return total.bounded
        }
    }

    private static func found(
        _ scans: [KeysetScan],
        limit: Int,
        in database: Database
    ) throws -> (numbers: [Int64], next: ListPosition?) {
        let result = try KeysetScan.merged(scans, limit: limit, in: database)
        return (result.found.map(\.number), result.end.map(ListPosition.init))
    }

    /// Walks over one state after the other. The key of a place is the position of its state.
    private static func byState(
        _ scans: NotificationScans,
        limit: Int,
        in database: Database
    ) throws -> (numbers: [Int64], next: ListPosition?) {
        var numbers: [Int64] = []
        let first = scans.after?.key ?? 0
        for (index, state) in NotificationSort.states.enumerated() where index >= first {
            guard scans.filter.state == nil || scans.filter.state == state else { continue }
            let after = Int64(index) == first ? scans.after : nil
            let group = NotificationScans(filter: scans.filter, sort: .state, after: after)
            let ranges = try group.scans(state: state, in: database)
            let result = try Self.found(ranges, limit: limit - numbers.count, in: database)
            numbers += result.numbers
            if let end = result.next { return (numbers, ListPosition(key: Int64(index), number: end.number)) }
            // The next state begins with its newest.
            guard numbers.count < limit else { return (numbers, ListPosition(key: Int64(index) + 1, number: .max)) }
        }
        return (numbers, nil)
    }
}

extension ListTotal {
    /// The total with at most the number that is counted.
    var bounded: ListTotal {
        self.count > Self.maximum ? ListTotal(count: Self.maximum, isExact: false) : self
    }
}
