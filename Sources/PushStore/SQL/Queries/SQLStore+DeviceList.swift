import Foundation
package import ProviderModel
import PushSupport

extension SQLStore {
    package func devices(
        _ search: DeviceSearch,
        sort: DeviceSort,
        after: ListPosition?,
        limit: Int
    ) async throws -> ListPage<DeviceRecord> {
        try await self.database.query { database in
            guard let scan = try Self.scan(search, sort, after: after, in: database)
            else { return ListPage(entries: [], next: nil) }
            let result = try scan.run(limit: limit, rows: KeysetScan.maximumRows, in: database)
            var page = ListPage<DeviceRecord>(entries: [], next: result.end.map(ListPosition.init))
            var length = 0
            for entry in result.found {
                let found = try DeviceRows(database: database).devices(where: "id = ?", [entry.number.sqlValue])
                guard let device = found.first else { continue }
                page.entries.append(device)
                length += device.profile.length
                if length > KeysetScan.maximumBytes {
                    page.next = ListPosition(entry)
                    break
                }
            }
            return page
        }
    }

    package func totalDevices(_ search: DeviceSearch) async throws -> ListTotal {
        try await self.database.query { database in
            try Self.scan(search, .oldest, after: nil, in: database)?.total(rows: ListTotal.maximum, in: database)
                ?? ListTotal(count: 0, isExact: true)
        }
    }

    /// Returns the scan over the devices of a list, or `nil` if the scan cannot continue, because the last device of
    /// the previous page, whose sort value is needed, no longer exists.
    static func scan(
        _ search: DeviceSearch,
        _ sort: DeviceSort,
        after: ListPosition?,
        in database: any SQLConnection
    ) throws -> KeysetScan? {
        var scan = KeysetScan(
            table: "device INDEXED BY \(Self.index(search, sort))",
            key: sort.column,
            number: "id",
            isDescending: sort == .newest || sort == .lastSeen,
            range: "app = ?",
            rangeArguments: [search.app.sqlValue],
            filter: ["hasLeft = 0"],
            filterArguments: []
        )
        func bound(_ condition: String, _ values: (any SQLEncodable)?...) {
            scan.range += " AND \(condition)"
            scan.rangeArguments += values.map { $0?.sqlValue ?? .null }
        }
        if sort == .user { bound("user IS NOT NULL") }
        if search.isOnlyInactive(sort) { bound("isActive = 0") }
        if let prefix = search.tokenPrefix {
            bound("token >= ?", Data(prefix))
            if let end = Self.successor(of: prefix) { bound("token < ?", Data(end)) }
        }
        if let user = search.user { bound("user = ?", user) }
        if let installation = search.installation { bound("installation = ?", installation) }
        if let after {
            switch sort {
            case .oldest: bound("id > ?", after.number)
            case .newest: bound("id < ?", after.number)
            case .lastSeen: bound("(registeredAt, id) < (?, ?)", after.key, after.number)
            case .user, .token:
                let sql = "SELECT user, token FROM device WHERE id = ?"
                guard let last = try database.row(sql: sql, [after.number]) else { return nil }
                let text: SQLValue = last[sort.column] ?? .null
                bound("(\(sort.column), id) > (?, ?)", text, after.number)
            }
        }
        scan.require("environment = ?", search.environment?.code)
        scan.require("kind = ?", search.kind?.code)
        let tag =
            "EXISTS (SELECT 1 FROM deviceTag WHERE deviceTag.app = device.app AND tag = ? AND deviceTag.device = id)"
        scan.require(tag, search.tag)
        switch search.state {
        case .active: scan.filter.append("isActive = 1")
        case .inactive: scan.filter.append("isActive = 0")
        case .suspected: scan.filter.append("isActive = 1 AND suspicions > 0")
        case nil: break
        }
        return scan
    }

    /// Returns the name of the index to scan: one with few matching devices to sort, or one in the list's order.
    private static func index(_ search: DeviceSearch, _ sort: DeviceSort) -> String {
        if search.installation != nil { return "deviceByInstallation" }
        if search.tokenPrefix != nil { return "deviceByToken" }
        if search.user != nil { return "deviceByUser" }
        switch sort {
        case .oldest, .newest: return search.isOnlyInactive(sort) ? "deviceInactive" : "deviceByApp"
        case .lastSeen: return "deviceByLastSeen"
        case .user: return "deviceByUser"
        case .token: return "deviceByToken"
        }
    }

    /// Returns the exclusive upper bound of the byte strings with a prefix, or `nil` if there is no such bound.
    private static func successor(of prefix: [UInt8]) -> [UInt8]? {
        guard let last = prefix.lastIndex(where: { $0 < .max }) else { return nil }
        return prefix[..<last] + [prefix[last] + 1]
    }
}

extension DeviceSearch {
    fileprivate func isOnlyInactive(_ sort: DeviceSort) -> Bool {
        self.state == .inactive && !self.isNarrow && (sort == .oldest || sort == .newest)
    }
}

extension DeviceSort {
    fileprivate var column: String {
        switch self {
        case .oldest, .newest: "id"
        case .lastSeen: "registeredAt"
        case .user: "user"
        case .token: "token"
        }
    }
}

extension DeviceProfile {
    /// The total size of the attributes and tags in bytes, which make up most of a long record.
    fileprivate var length: Int {
        let attributes = (try? JSONValue.object(self.attributes).text.count) ?? 0
        return self.tags.reduce(attributes) { $0 + $1.text.utf8.count }
    }
}

extension ListPosition {
    init(_ entry: KeysetScan.Entry) { self.init(key: Int64(entry.key) ?? 0, number: entry.number) }
}
