import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Lists walk over an index in its order: nothing is sorted, and nothing is read from the beginning.
@Suite(.timeLimit(.patience)) struct ListPlanTests {
    private func withStore(_ body: (SQLStore, Int64) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            try await body(store, app)
            try await store.close()
        }
    }

    /// Returns the faults in the plan of a walk: a sort, or a scan that no condition bounds.
    private func faults(_ scan: KeysetScan, in database: any SQLConnection) throws -> [String] {
        let direction = scan.isDescending ? "DESC" : "ASC"
        let order = scan.key == scan.number ? "" : "\(scan.key) \(direction), "
        let sql = """
            SELECT \(scan.key), \(scan.number) FROM \(scan.table)
            WHERE \(scan.range) ORDER BY \(order)\(scan.number) \(direction)
            """
        return try database.plan(of: sql, SQLArguments(scan.rangeArguments)).filter {
            $0.contains("USE TEMP B-TREE FOR ORDER BY") || $0.hasPrefix("SCAN ")
        }
    }

    @Test func noListOfNotificationsIsSorted() async throws {
        try await self.withStore { store, app in
            var filters = [NotificationFilter(apps: [app])]
            for state in NotificationRecord.State.allCases {
                var filter = NotificationFilter(apps: [app])
                filter.state = state
                filters.append(filter)
            }
            for (change, value) in [(\NotificationFilter.name, "Spring"), (\.nameContains, "pri")] {
                var filter = NotificationFilter(apps: [app])
                filter[keyPath: change] = value
                filters.append(filter)
            }
            var timed = NotificationFilter(apps: [app])
            (timed.from, timed.to, timed.lane) = (Vectors.issuedAt, Vectors.issuedAt.advanced(by: .seconds(9)), .bulk)
            filters.append(timed)
            _ = try await store.start(app: app) { $0.name = "Spring" }
            for filter in filters {
                for sort in NotificationSort.allCases {
                    for after in [nil, ListPosition(key: 2, number: 1)] {
                        let scans = NotificationScans(filter: filter, sort: sort, after: after)
                        let faults = try await store.database.read { database in
                            try scans.scans(state: sort == .state ? .paused : nil, in: database)
                                .flatMap { try self.faults($0, in: database) }
                        }
                        #expect(faults == [], "\(filter) \(sort)")
                    }
                }
            }
        }
    }

    @Test func noListOfDevicesIsSortedUnlessItIsShort() async throws {
        try await self.withStore { store, app in
            let device = try await store.register(1, app: app) { $0.user = .set("alice") }
            for state in [nil] + DeviceSearch.State.allCases {
                var search = DeviceSearch(app: app)
                (search.state, search.tag, search.kind) = (state, "beta", .voip)
                let wanted = search
                for sort in DeviceSort.allCases {
                    for after in [nil, ListPosition(key: 1, number: device)] {
                        let faults = try await store.database.read { database in
                            let scan = try #require(try SQLStore.scan(wanted, sort, after: after, in: database))
                            return try self.faults(scan, in: database)
                        }
                        #expect(faults == [], "\(wanted) \(sort)")
                    }
                }
            }
        }
    }

    /// The few that failed of a large campaign are found by an index of their own.
    @Test func failedDeliveriesAreNotSearchedAmongTheAccepted() async throws {
        try await self.withStore { store, app in
            let plan = try await store.database.read { database in
                let sql = """
                    SELECT recipient FROM delivery
                    WHERE delivery.notification = (SELECT number FROM notification WHERE id = 'x')
                        AND delivery.recipient > 1 AND delivery.state = 3 AND delivery.state > 1
                    ORDER BY delivery.recipient LIMIT 9
                    """
                return try database.plan(of: sql)
            }
            #expect(plan.contains { $0.contains("deliveryUnsuccessful") }, "\(plan)")
        }
    }

    /// Numbers do not rise with the time when the clock was ahead for a while: a range of times is whole, and still bounded.
    @Test func aRangeOfTimesIsWholeAndBounded() async throws {
        try await self.withStore { store, app in
            try await store.database.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO audit (at, keyName, action, status)
                        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 9000)
                        SELECT 1000 * iif(n BETWEEN 3001 AND 5000, n + 10000, n), 'Ann', 'POST /v1/apps', 200 FROM counter
                        """
                )
            }
            let ranges: [(from: Int64, to: Int64, count: Int)] = [
                (100, 110, 10), (2990, 5010, 20), (6000, 6010, 10), (8990, 20_000, 2011), (13_500, 13_510, 10),
                (20_000, 30_000, 0),
            ]
            for range in ranges {
                var filter = AuditFilter()
                (filter.from, filter.to) = (Timestamp(seconds: range.from), Timestamp(seconds: range.to))
                let page = try await store.audit(filter, before: nil, limit: 5000)
                #expect(page.entries.count == range.count && page.next == nil, "\(range)")
            }
            let visited = try await store.database.read { database in
                var scan = KeysetScan(
                    table: "audit",
                    key: "id",
                    number: "id",
                    isDescending: true,
                    range: "id > 0",
                    rangeArguments: [],
                    filter: [],
                    filterArguments: []
                )
                TimeBlocks.audit.bound(&scan, from: Timestamp(seconds: 100), to: Timestamp(seconds: 110))
                return try scan.total(rows: 9000, in: database).count
            }
            #expect(visited < 1024, "the block has the numbers up to 1,023")
        }
    }

    /// What is forgotten takes its blocks along.
    @Test func aBlockGoesWithItsRows() async throws {
        try await self.withStore { store, app in
            try await store.database.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO audit (at, keyName, action, status)
                        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 3000)
                        SELECT 1000 * n, 'Ann', 'POST /v1/apps', 200 FROM counter
                        """
                )
                try database.execute(
                    sql: """
                        INSERT INTO notification (number, id, prefix, app, state, lane, guarantee, audience, topic, pushType,
                            priority, payload, isTemplate, createdAt, startsAt, finishedAt)
                        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 3000)
                        SELECT n, 'notification ' || n, n, ?, 'done', 1, 'atLeastOnce', '{"all":true}', 'com.example.MyApp', 'alert',
                            10, x'7b7d', 0, 1000 * n, 1000 * n, 1000 * n FROM counter
                        """,
                    arguments: [app]
                )
            }
            let blocks = "SELECT list, block, earliest FROM timeBlock ORDER BY list, block"
            func read() async throws -> [[Int64]] {
                try await store.database.read { database in
                    try database.rows(sql: blocks).map { row in
                        try ["list", "block", "earliest"].map { try #require(row[$0] as Int64?) }
                    }
                }
            }
            let all: [[Int64]] = [
                [0, 0, 0], [0, 1, 1_024_000], [0, 2, 2_048_000], [1, 0, 0], [1, 1, 1_024_000], [1, 2, 2_048_000],
            ]
            #expect(try await read() == all)
            _ = try await store.forgetAudit(before: Timestamp(seconds: 2100), limit: 5000)
            try await store.checkWritable()
            try await store.database.run(sql: "DELETE FROM notification WHERE createdAt < ?", [2_100_000])
            #expect(try await read() == [[0, 2, 2_048_000], [1, 2, 2_048_000]])
        }
    }

    /// One entry of a clock at 1970 leads over all others, which are passed over without a count.
    @Test func oneEntryOfALostClockShortensNoPage() async throws {
        try await self.withStore { store, _ in
            try await store.database.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO audit (at, keyName, action, status)
                        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 25001)
                        SELECT 1000 * iif(n = 25001, 1, n + 100000), 'Ann', 'POST /v1/apps', 200 FROM counter
                        """
                )
            }
            let early: [Int64] = [25_001] + (1...10).reversed()
            let late: [Int64] = Array((24_990...25_000).reversed())
            let ranges: [(from: Int64?, to: Int64?, ids: [Int64])] = [
                (nil, 100_011, early), (0, 100_011, early), (124_990, nil, late),
            ]
            for range in ranges {
                var filter = AuditFilter()
                filter.from = range.from.map { Timestamp(seconds: $0) }
                filter.to = range.to.map { Timestamp(seconds: $0) }
                let page = try await store.audit(filter, before: nil, limit: 100)
                #expect(page.entries.map(\.id) == range.ids && page.next == nil, "\(range)")
            }
        }
    }

    /// With many rows that do not fit, a page is short and tells where to go on.
    @Test func aWalkIsBounded() async throws {
        try await self.withStore { store, app in
            try await store.database.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO audit (at, keyName, action, status)
                        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 50000)
                        SELECT n, iif(n = 10, 'Ann', 'Bob'), 'POST /v1/apps', 200 FROM counter
                        """
                )
            }
            var filter = AuditFilter()
            filter.name = "ann"
            var (pages, found): (Int, [AuditRecord]) = (0, [])
            var place: Int64?
            repeat {
                let page = try await store.audit(filter, before: place, limit: 10)
                (pages, found, place) = (pages + 1, found + page.entries, page.next?.number)
            } while place != nil
            #expect(pages == 3 && found.map(\.keyName) == ["Ann"])
        }
    }
}
