import Foundation
package import ProviderModel
import PushTypes

extension SQLStore {
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
            // In a range of times, the scan may have to read rows of other apps.
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
        in database: any SQLConnection
    ) throws -> (numbers: [Int64], next: ListPosition?) {
        let result = try KeysetScan.merged(scans, limit: limit, in: database)
        return (result.found.map(\.number), result.end.map(ListPosition.init))
    }

    /// Returns a page of a list that is sorted by state, one state after the other. The key of a position is the index
    /// of its state in ``NotificationSort/states``. `next` is `nil` at the end of the list.
    private static func byState(
        _ scans: NotificationScans,
        limit: Int,
        in database: any SQLConnection
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
            // The next page starts with the newest notification of the next state.
            guard numbers.count < limit else { return (numbers, ListPosition(key: Int64(index) + 1, number: .max)) }
        }
        return (numbers, nil)
    }
}

extension ListTotal {
    /// The total, or ``ListTotal/maximum`` as an inexact total if the total is higher.
    var bounded: ListTotal { self.count > Self.maximum ? ListTotal(count: Self.maximum, isExact: false) : self }
}

struct NotificationScans {
    let filter: NotificationFilter
    let sort: NotificationSort
    /// The position of the last entry of the previous page, or `nil` for the first page.
    let after: ListPosition?

    /// Returns the scans, one for each app, so that other apps' notifications do not delay the search.
    ///
    /// - Parameter state: The state to scan in a list that is sorted by state, or `nil` for other lists.
    func scans(state: NotificationRecord.State?, in database: any SQLConnection) throws -> [KeysetScan] {
        var filter = self.filter
        if let state { filter.state = state }
        let name = self.sort == .name ? try self.name(in: database) : nil
        // The list ends if the last notification of the previous page no longer exists. Without its name, the list
        // would start again.
        if self.sort == .name, self.after != nil, name == nil { return [] }
        return filter.apps.map { self.scan($0, filter, after: name) }
    }

    /// Returns the name of the last notification of the previous page, or `nil` if there is none.
    private func name(in database: any SQLConnection) throws -> String? {
        guard let after else { return nil }
        return try database.row(sql: "SELECT name FROM notification WHERE number = ?", [after.number])?["name"]
    }

    private func scan(_ app: Int64, _ filter: NotificationFilter, after name: String?) -> KeysetScan {
        var scan = KeysetScan(
            table: "notification",
            key: "number",
            number: "number",
            isDescending: self.sort != .name,
            range: "app = ?",
            rangeArguments: [app.sqlValue],
            filter: [],
            filterArguments: []
        )
        switch self.sort {
        case .newest, .state: self.add(newest: filter, to: &scan)
        case .name:
            scan.table += " INDEXED BY notificationByAppAndName"
            scan.key = "name"
            scan.range += " AND name IS NOT NULL"
            if let after, let name {
                scan.range += " AND (name, number) > (?, ?)"
                scan.rangeArguments += [name.sqlValue, after.number.sqlValue]
            }
            scan.require("name = ?", filter.name)
            scan.require("state = ?", filter.state?.rawValue)
            scan.require("lane = ?", filter.lane?.rawValue)
        case .recipients:
            scan.table += " INDEXED BY notificationByRecipients"
            scan.key = "recipients"
            scan.range += " AND recipients > 1"
            if let after {
                scan.range += " AND (recipients, number) < (?, ?)"
                scan.rangeArguments += [after.key.sqlValue, after.number.sqlValue]
            }
            scan.require("name = ?", filter.name)
            scan.require("state = ?", filter.state?.rawValue)
            scan.require("lane = ?", filter.lane?.rawValue)
        }
        self.addRest(filter, to: &scan)
        return scan
    }

    /// Sets the index for a scan from the newest to the oldest notification.
    private func add(newest filter: NotificationFilter, to scan: inout KeysetScan) {
        var rest = filter
        if let name = filter.name {
            scan.table += " INDEXED BY notificationByAppAndName"
            scan.range += " AND name = ?"
            scan.rangeArguments.append(name.sqlValue)
            rest.name = nil
        } else if filter.state == .cancelled {
            scan.table += " INDEXED BY notificationCancelled"
            scan.range += " AND state = 'cancelled'"
            rest.state = nil
        } else if let state = filter.state, state != .done {
            scan.table += " INDEXED BY notificationUnfinished"
            scan.range = "state = '\(state.rawValue)' AND finishedAt IS NULL"
            // The scan reads rows of all apps, because few notifications are in progress.
            scan.filter.append("app = ?")
            scan.filterArguments += scan.rangeArguments
            scan.rangeArguments = []
            rest.state = nil
        } else if filter.lane == .bulk {
            scan.table += " INDEXED BY notificationInBulk"
            scan.range += " AND lane = 1"
            rest.lane = nil
        } else {
            scan.table += " INDEXED BY notificationByApp"
        }
        if let after {
            scan.range += " AND number < ?"
            scan.rangeArguments.append(after.number.sqlValue)
        }
        scan.require("state = ?", rest.state?.rawValue)
        scan.require("name = ?", rest.name)
        scan.require("lane = ?", rest.lane?.rawValue)
        TimeBlocks.notifications.bound(&scan, from: filter.from, to: filter.to)
    }

    private func addRest(_ filter: NotificationFilter, to scan: inout KeysetScan) {
        scan.require("instr(lower(name), lower(?)) > 0", filter.nameContains)
        scan.require("key = ?", filter.key?.uuidString)
        scan.require("pushType = ?", filter.pushType?.rawValue)
        scan.require("schedule = ?", filter.schedule?.uuidString)
        scan.require("createdAt >= ?", filter.from?.milliseconds)
        scan.require("createdAt < ?", filter.to?.milliseconds)
    }
}

extension KeysetScan {
    /// Adds a condition that each row of the range is checked for, unless `value` is `nil`.
    mutating func require(_ condition: String, _ value: (any SQLEncodable)?) {
        guard let value else { return }
        self.filter.append(condition)
        self.filterArguments.append(value.sqlValue)
    }
}
