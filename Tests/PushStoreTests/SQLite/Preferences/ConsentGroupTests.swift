import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The groups of devices that a preview counts.
@Suite(.timeLimit(.patience)) struct ConsentGroupTests {
    /// Gives devices quiet hours of their own, from one second number to the next.
    private static func add(_ numbers: ClosedRange<Int>, app: Int64, in store: SQLStore) async throws {
        try await store.database.write { database in
            for number in numbers {
                let hours = "\(Self.time(number / 1000))-\(Self.time(100 + number % 1000))"
                let sql = """
                    INSERT INTO device (app, environment, token, isActive, createdAt, registeredAt, suspicions, quietHours)
                    VALUES (?, 0, ?, 1, 1, 1, 0, ?)
                    """
                try database.run(sql: sql, [app, DeviceToken.numbered(number).sqlValue, hours])
            }
        }
    }

    private static func time(_ minutes: Int) -> String {
        let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
        return [hour, minute].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    @Test func tooManyGroupsAreNotCounted() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            let app = try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app
            let most = SQLStore.maximumConsentGroups
            let content = try NotificationRecord.fixture(app: app.id, to: .devices(.everyone)).content
            func groups() async throws -> [ConsentGroup]? {
                try await store.consentGroups(
                    app: app,
                    audience: .devices(.everyone),
                    environment: nil,
                    content: content,
                    rules: ConsentRules(),
                    now: Vectors.issuedAt
                )
            }
            try await Self.add(1...most, app: app.id, in: store)
            let found = try #require(try await groups())
            #expect(found.count == most)
            #expect(found.allSatisfy { $0.count == 1 })
            try await Self.add(most + 1...most + 1, app: app.id, in: store)
            #expect(try await groups() == nil)
        }
    }
}
