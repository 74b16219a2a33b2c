import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Recipients that are found by indexes, and by visiting all devices.
@Suite(.timeLimit(.patience)) struct AudienceDriverTests {
    let now = Vectors.issuedAt

    /// Listing, counting, sending and looking up must choose the devices of the expression.
    @Test(arguments: [1, 2, 3] as [UInt64]) func everyWayChoosesTheSame(seed: UInt64) async throws {
        try await self.withDevices(120, seed: seed) { store, app in
            let devices = try await store.devices(app: app, audience: .everyone, after: 0, limit: 1000)
            var generator = AudienceGenerator(seed: seed)
            for _ in 0..<40 {
                let expression = generator.expression(depth: 3)
                let expected = devices.filter { AudienceReference.holds(expression, for: $0) }
                let active = expected.filter(\.isActive).map(\.id)
                let listed = try await store.devices(app: app, audience: expression, after: 0, limit: 1000)
                #expect(listed.map(\.id) == expected.map(\.id), "\(expression)")
                let count = try await store.count(app: app, audience: expression, environment: nil)
                #expect(count == active.count, "\(expression)")
                for isNarrow in [true, false] {
                    let claim = try self.claim(expression, app, isNarrow: isNarrow)
                    let recipients = try await store.readAll(claim, page: 1 + generator.number(100))
                    #expect(recipients.map(\.id) == active, "\(expression), narrow: \(isNarrow)")
                }
            }
        }
    }

    @Test func aConditionWithAnIndexScansNoTable() async throws {
        let version = try #require(AppVersion("2.1"))
        let narrow: [AudienceExpression] = [
            .token(.numbered(1)), .user("user1"), .tag("tag1"), .attribute(name: "size", .equal, .integer(1)),
            .attribute(name: "size", .above, .number(1)), .hasAttribute("plan"), .locale("de"),
            .appVersion(.below, version), .timeZone("UTC"), .lastSeen(.atLeast, self.now),
            .and([.not(.tag("tag1")), .everyone, .user("user1")]), .or([.tag("tag1"), .locale("de")]),
            .and([.or([.user("user1"), .not(.user("user2"))]), .tag("tag1")]),
        ]
        let wide: [AudienceExpression] = [
            .everyone, .not(.user("user1")), .or([.user("user1"), .everyone]), .and([]), .and([.not(.tag("tag1"))]),
        ]
        try await self.withDevices(10, seed: 1) { store, app in
            for expression in narrow {
                let plan = try await self.plan(store, app, expression)
                #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") }, "\(expression): \(plan)")
                #expect(plan.contains { $0.contains("INTEGER PRIMARY KEY (rowid=?)") }, "\(expression): \(plan)")
            }
            for expression in wide {
                let driver = try await store.database.read { database in
                    try AudienceDriver.choose(expression, of: nil, app: app, limit: .max, in: database)?.condition
                }
                #expect(driver == nil, "\(expression)")
            }
        }
    }

    @Test func theConditionWithTheFewestEntriesDrives() async throws {
        try await self.withDevices(0, seed: 1) { store, app in
            let registrations = (1...2000).map { number in
                var registration = DeviceRegistration(environment: .sandbox, token: .numbered(number))
                registration.tags = number.isMultiple(of: 100) ? ["few", "many"] : ["many"]
                return registration
            }
            _ = try await store.register(registrations, app: app, now: self.now)
            func driver(_ expression: AudienceExpression, limit: Int = .max) async throws -> [SQLValue]? {
                try await store.database.read { database in
                    try AudienceDriver.choose(expression, of: nil, app: app, limit: limit, in: database)?
                        .arguments(after: 0, upTo: 9)
                }
            }
            func tag(_ name: String) -> [SQLValue] {
                [app.sqlValue, name.sqlValue, 0.sqlValue, 9.sqlValue]
            }
            let (few, many) = (AudienceExpression.tag("few"), AudienceExpression.tag("many"))
            #expect(try await driver(.and([many, few])) == tag("few"))
            #expect(try await driver(.and([few, many])) == tag("few"))
            #expect(try await driver(.or([few, many])) == tag("few") + tag("many"))
            #expect(try await driver(.and([.or([few, many]), many])) == tag("many"))
            #expect(try await driver(many, limit: 2000) == nil, "there are not fewer")
            #expect(try await driver(many, limit: 2001) == tag("many"))
            #expect(try await driver(few, limit: 21) == tag("few"))
            #expect(try await driver(few, limit: 0) == nil)
        }
    }

    @Test func aLimitGrowsWithTheCostOfAScan() {
        #expect(AudienceDriver.limit(wanted: 1000, devices: 1_000_000) == 89_442)
        #expect(AudienceDriver.limit(wanted: 20, devices: 1_000_000) == 12_649)
        #expect(AudienceDriver.limit(wanted: .max, devices: .max) > 1_000_000)
        #expect(AudienceDriver.limit(wanted: -1, devices: -1) >= 0)
    }

    private func plan(_ store: SQLStore, _ app: Int64, _ expression: AudienceExpression) async throws -> [String] {
        let claim = try self.claim(expression, app, isNarrow: true)
        return try await store.database.read { database in
            let chosen = try AudienceDriver.choose(expression, of: nil, app: app, limit: .max, in: database)
            let driver = try #require(chosen)
            let query = RecipientQuery(claim, limit: 10, needs: [], database.attributes)
            let filter = DeviceFilter(claim, audience: expression, database.attributes)
            let (sql, arguments) = query.text(filter, driver: driver)
            return try database.plan(of: sql, SQLArguments(arguments))
        }
    }

    private func claim(_ expression: AudienceExpression, _ app: Int64, isNarrow: Bool) throws -> ShardClaim {
        ShardClaim(
            notification: SharedNotification(try .fixture(app: app, to: .devices(expression))),
            // A notification of its own, because its driver is chosen once.
            notificationNumber: .random(in: 1...Int64.max),
            shard: 0,
            zone: .any,
            cursor: 0,
            end: .max,
            isNarrow: isNarrow,
            fence: 0
        )
    }

    private func withDevices(
        _ count: Int,
        seed: UInt64,
        _ body: (SQLStore, Int64) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            var generator = AudienceGenerator(seed: seed)
            for number in 0..<count {
                let registration = generator.registration(number)
                let time = self.now.advanced(by: .seconds(number % 60))
                _ = try await store.register([registration], app: app, now: time)
            }
            try await store.database.run(sql: "UPDATE device SET isActive = 0 WHERE id % 7 = 3")
            try await body(store, app)
        }
    }
}

/// The meaning of an expression, without a database.
enum AudienceReference {
    static func holds(_ expression: AudienceExpression, for device: DeviceRecord) -> Bool {
        let profile = device.profile
        switch expression {
        case .everyone: return true
        case .token(let token): return device.token == token
        case .user(let user): return profile.user == user
        case .tag(let tag): return profile.tags.contains(BytewiseString(tag))
        case .attribute(let name, let comparison, let value):
            return profile.attributes[name].map { Self.holds($0, comparison, value) } ?? false
        case .hasAttribute(let name): return profile.attributes[name] != nil
        case .locale(let locale):
            guard let own = profile.locale?.lowercased() else { return false }
            return own == locale.lowercased() || own.hasPrefix(locale.lowercased() + "-")
        case .appVersion(let comparison, let version):
            guard let own = profile.appVersion.flatMap({ AppVersion($0) }) else { return false }
            return Self.holds(own.number, comparison, version.number)
        case .timeZone(let zone): return profile.timeZone == zone
        case .activity(let activity): return device.activity == activity
        case .lastSeen(let comparison, let time): return Self.holds(device.registeredAt, comparison, time)
        case .outcomes: return false
        case .and(let expressions): return expressions.allSatisfy { Self.holds($0, for: device) }
        case .or(let expressions): return expressions.contains { Self.holds($0, for: device) }
        case .not(let expression): return !Self.holds(expression, for: device)
        }
    }

    private static func holds(_ own: JSONValue, _ comparison: AudienceExpression.Comparison, _ value: JSONValue) -> Bool
    {
        switch (own, value) {
        case (.string(let own), .string(let value)): Self.holds(own, comparison, value)
        case (.bool(let own), .bool(let value)): Self.holds(own ? 1 : 0, comparison, value ? 1 : 0)
        default:
            if let own = Self.number(own), let value = Self.number(value) {
                Self.holds(own, comparison, value)
            } else {
                false
            }
        }
    }

    private static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    private static func holds<Value: Comparable>(
        _ own: Value,
        _ comparison: AudienceExpression.Comparison,
        _ value: Value
    ) -> Bool {
        switch comparison {
        case .equal: own == value
        case .atLeast: own >= value
        case .above: own > value
        case .atMost: own <= value
        case .below: own < value
        }
    }
}
