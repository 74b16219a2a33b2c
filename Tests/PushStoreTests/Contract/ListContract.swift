import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Lists of notifications and devices that are filtered, sorted and paged.
@Suite(.timeLimit(.patience)) struct ListContract: StoreContract {
    /// Reads all pages of a list.
    private func all<Entry>(
        _ read: (ListPosition?) async throws -> ListPage<Entry>
    ) async throws -> [Entry] {
        var entries: [Entry] = []
        var place: ListPosition?
        repeat {
            let page = try await read(place)
            entries += page.entries
            place = page.next
        } while place != nil
        return entries
    }

    /// Stores notifications of two apps with different names, recipients, states and keys.
    private func notifications(_ store: any ProviderStore, _ app: Int64) async throws -> (other: Int64, key: UUID) {
        let other = try await store.addApp(bundleID: try #require(Topic("com.example.Other")), name: nil, now: self.now)
        let key = UUID()
        for number in 0..<30 {
            var record = try NotificationRecord.fixture(
                app: number % 3 == 0 ? other.app.id : app,
                to: .devices(.everyone)
            )
            record.name = number % 5 == 0 ? nil : "Campaign \(number % 7)"
            record.lane = number % 2 == 0 ? .bulk : .urgent
            record.progress.recipients = number % 4
            record.createdAt = self.now.advanced(by: .seconds(Int64(number)))
            record.key = number % 6 == 1 ? KeyReference(id: key, name: "shop") : nil
            _ = try await store.accept(record, shards: [ShardPlan(notBefore: self.now)], idempotency: nil)
            if number % 10 == 3 { _ = try await store.setState(.cancel, of: record.id, now: self.now) }
            if number % 10 == 4 { _ = try await store.setState(.pause(reason: nil), of: record.id, now: self.now) }
        }
        return (other.app.id, key)
    }

    @Test(arguments: StoreBackend.available)
    func everyPageSizeAndOrderHasEachNotificationOnce(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (other, key) = try await self.notifications(store, app)
            let everything = try await store.notifications(
                NotificationFilter(apps: [app, other]),
                sort: .newest,
                after: nil,
                limit: 100
            ).entries
            #expect(everything.map(\.createdAt) == everything.map(\.createdAt).sorted(by: >) && everything.count == 30)
            for filter in self.filters(app, other, key) {
                let fitting = everything.filter { filter.expects($0.filter) && filter.fits($0) }
                for sort in NotificationSort.allCases {
                    let expected = fitting.filter {
                        switch sort {
                        case .newest, .state: true
                        case .name: $0.name != nil
                        case .recipients: $0.progress.recipients > 1
                        }
                    }
                    for limit in [1, 4, 100] {
                        let found = try await self.all {
                            try await store.notifications(filter.filter, sort: sort, after: $0, limit: limit)
                        }
                        #expect(Set(found.map(\.id)) == Set(expected.map(\.id)), "\(filter.filter) \(sort) \(limit)")
                        #expect(found.count == expected.count, "\(filter.filter) \(sort) \(limit)")
                        self.expectOrder(found, sort)
                    }
                }
                let total = try await store.totalNotifications(filter.filter)
                #expect(total == ListTotal(count: fitting.count, isExact: true))
            }
        }
    }

    /// The clock runs ahead for two notifications, and is set back. All are in one block of numbers, or each in its own.
    @Test(arguments: StoreBackend.available, [0, 1500])
    func aRangeOfTimesIsWholeAfterTheClockWasSetBack(backend: StoreBackend, gap: Int64) async throws {
        try await backend.withStore { store, app in
            let sql = try #require(store as? SQLStore)
            func time(_ seconds: Int) -> Timestamp { self.now.advanced(by: .seconds(seconds)) }
            let times = [0, 1, 2, 1000, 1001, 3, 4, 5]
            for seconds in times {
                var record = try NotificationRecord.fixture(app: app, to: .devices(.everyone))
                record.createdAt = time(seconds)
                _ = try await store.accept(record, shards: [ShardPlan(notBefore: self.now)], idempotency: nil)
                try await sql.skipNumbers(of: "notification", gap)
            }
            for (from, to) in [(3, 5), (0, 5), (2, 2000), (1000, 1001), (4, 1001)] {
                var filter = NotificationFilter(apps: [app])
                (filter.from, filter.to) = (time(from), time(to))
                let wanted = filter
                let found = try await self.all {
                    try await store.notifications(wanted, sort: .newest, after: $0, limit: 2)
                }
                let expected = times.filter { $0 >= from && $0 < to }.map(time)
                #expect(found.map(\.createdAt).sorted() == expected.sorted(), "\(from) \(to)")
                let total = try await store.totalNotifications(wanted)
                #expect(total == ListTotal(count: expected.count, isExact: true))
            }
        }
    }

    /// A filter, and what it leaves.
    private struct Case {
        let filter: NotificationFilter
        let fits: (NotificationRecord) -> Bool

        func expects(_ apps: Set<Int64>) -> Bool { !apps.isDisjoint(with: self.filter.apps) }
    }

    private func filters(_ app: Int64, _ other: Int64, _ key: UUID) -> [Case] {
        func make(
            _ apps: [Int64],
            _ change: (inout NotificationFilter) -> Void,
            _ fits: @escaping (NotificationRecord) -> Bool
        ) -> Case {
            var filter = NotificationFilter(apps: apps)
            change(&filter)
            return Case(filter: filter, fits: fits)
        }
        let both = [app, other]
        let (from, to) = (self.now.advanced(by: .seconds(5)), self.now.advanced(by: .seconds(12)))
        return [
            make(both, { _ in }, { _ in true }), make([app], { _ in }, { _ in true }),
            make(both, { $0.state = .cancelled }, { $0.state == .cancelled }),
            make([app], { $0.state = .paused }, { $0.state == .paused }),
            make(both, { $0.state = .accepted }, { $0.state == .accepted }),
            make(both, { $0.state = .done }, { $0.state == .done }),
            make(both, { $0.lane = .bulk }, { $0.lane == .bulk }),
            make(both, { $0.name = "Campaign 3" }, { $0.name == "Campaign 3" }),
            make(both, { $0.nameContains = "PAIGN 2" }, { $0.name?.contains("paign 2") == true }),
            make([other], { $0.key = key }, { $0.key?.id == key }),
            make(both, { ($0.from, $0.to) = (from, to) }, { $0.createdAt >= from && $0.createdAt < to }),
            make(both, { $0.from = self.now.advanced(by: .seconds(900)) }, { _ in false }),
            make(both, { $0.pushType = .background }, { _ in false }),
            make(both, { ($0.lane, $0.state) = (.urgent, .accepted) }, { $0.lane == .urgent && $0.state == .accepted }),
        ]
    }

    private func expectOrder(_ found: [NotificationRecord], _ sort: NotificationSort) {
        let pairs = zip(found, found.dropFirst())
        switch sort {
        case .newest: #expect(pairs.allSatisfy { $0.createdAt > $1.createdAt })
        case .name: #expect(pairs.allSatisfy { ($0.name ?? "") <= ($1.name ?? "") })
        case .recipients: #expect(pairs.allSatisfy { $0.progress.recipients >= $1.progress.recipients })
        case .state:
            let states: [NotificationRecord.State] = [.sending, .accepted, .paused, .scheduled, .cancelled, .done]
            #expect(
                pairs.allSatisfy { (states.firstIndex(of: $0.state) ?? 0) <= (states.firstIndex(of: $1.state) ?? 0) }
            )
        }
    }

    @Test(arguments: StoreBackend.available)
    func devicesAreFoundByAnythingThatIsKnownOfThemAndSorted(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...20 {
                try await store.register(number, app: app, now: self.now.advanced(by: .seconds(Int64(number * 7 % 20))))
                {
                    if number % 3 == 0 { $0.user = .set("user \(number % 4)") }
                    if number % 2 == 0 { $0.tags = ["even"] }
                    $0.installation = "phone \(number)"
                }
            }
            let all = try await store.devices(app: app, audience: .everyone, after: 0, limit: 100)
            try await store.apply(.deactivated(since: self.now.advanced(by: .seconds(99))), to: all[4].id, app: app)
            func expect(_ count: Int, _ change: (inout DeviceSearch) -> Void) async throws {
                var search = DeviceSearch(app: app)
                change(&search)
                for sort in DeviceSort.allCases {
                    for limit in [1, 3, 100] {
                        let found = try await self.all {
                            try await store.devices(search, sort: sort, after: $0, limit: limit)
                        }
                        let expected = sort == .user ? found.count(where: { $0.profile.user != nil }) : count
                        #expect(found.count == expected, "\(search) \(sort) \(limit)")
                        #expect(Set(found.map(\.id)).count == found.count)
                        self.expectOrder(found, sort)
                    }
                }
                #expect(try await store.totalDevices(search) == ListTotal(count: count, isExact: true))
            }
            try await expect(20) { _ in }
            try await expect(10) { $0.tag = "even" }
            try await expect(1) { $0.installation = "phone 7" }
            try await expect(1) { $0.state = .inactive }
            try await expect(19) { $0.state = .active }
            try await expect(2) { $0.user = "user 3" }
            try await expect(0) { $0.kind = .voip }
            let token = all[2].token.bytes
            try await expect(1) { $0.tokenPrefix = token }
            var search = DeviceSearch(app: app)
            search.tokenPrefix = Array(token.prefix(2))
            let found = try await store.devices(search, sort: .token, after: nil, limit: 100).entries
            #expect(found.count == all.count { $0.token.bytes.starts(with: token.prefix(2)) })
        }
    }

    /// Each has 16,000 bytes of attributes.
    @Test(arguments: StoreBackend.available)
    func aPageOfLongDevicesEndsAfterAMegabyte(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let text = JSONValue.string(String(repeating: "x", count: 4000))
            for number in 1...70 {
                try await store.register(number, app: app) { registration in
                    for name in 1...4 { registration.attributes["text\(name)"] = .set(text) }
                }
            }
            let search = DeviceSearch(app: app)
            for sort in [DeviceSort.oldest, .newest, .lastSeen, .token] {
                let first = try await store.devices(search, sort: sort, after: nil, limit: 100)
                #expect((60..<70).contains(first.entries.count) && first.next != nil, "\(sort)")
                let all = try await self.all { try await store.devices(search, sort: sort, after: $0, limit: 100) }
                #expect(all.count == 70 && Set(all.map(\.id)).count == 70, "\(sort)")
                self.expectOrder(all, sort)
            }
        }
    }

    private func expectOrder(_ found: [DeviceRecord], _ sort: DeviceSort) {
        let pairs = zip(found, found.dropFirst())
        switch sort {
        case .oldest: #expect(pairs.allSatisfy { $0.id < $1.id })
        case .newest: #expect(pairs.allSatisfy { $0.id > $1.id })
        case .lastSeen: #expect(pairs.allSatisfy { $0.registeredAt >= $1.registeredAt })
        case .user: #expect(pairs.allSatisfy { ($0.profile.user ?? "") <= ($1.profile.user ?? "") })
        case .token:
            #expect(pairs.allSatisfy { $0.token.bytes.lexicographicallyPrecedes($1.token.bytes) })
        }
    }

    @Test(arguments: StoreBackend.available)
    func theAuditIsFilteredAndPaged(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let key = UUID()
            for number in 0..<20 {
                try await store.addAudit(
                    AuditRecord(
                        at: self.now.advanced(by: .seconds(Int64(number))),
                        key: number % 2 == 0 ? key : nil,
                        keyName: number % 2 == 0 ? "Ann" : "Bob",
                        action: number % 5 == 0 ? "DELETE /v1/schedules/7" : "POST /v1/apps",
                        status: number % 4 == 0 ? 403 : 200
                    )
                )
            }
            func count(_ change: (inout AuditFilter) -> Void) async throws -> Int {
                var filter = AuditFilter()
                change(&filter)
                let wanted = filter
                return try await self.all { try await store.audit(wanted, before: $0?.number, limit: 3) }.count
            }
            #expect(try await count { _ in } == 20)
            #expect(try await count { $0.key = key } == 10)
            #expect(try await count { $0.name = "bob" } == 10)
            #expect(try await count { $0.action = "delete" } == 4)
            #expect(try await count { $0.hasFailed = true } == 5)
            #expect(
                try await count {
                    ($0.from, $0.to) = (self.now.advanced(by: .seconds(5)), self.now.advanced(by: .seconds(9)))
                } == 4
            )
        }
    }
}

extension NotificationRecord {
    /// The apps that a list must have for this notification.
    fileprivate var filter: Set<Int64> { [self.app] }
}
