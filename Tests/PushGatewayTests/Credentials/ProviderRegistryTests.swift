import Foundation
import GRDB
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct ProviderRegistryTests {
    static let now = Vectors.issuedAt

    @Test func everythingSurvivesARestart() async throws {
        try await Self.withDatabase { database in
            let registry = try ProviderRegistry(database: database)
            let app = ProviderApp(bundleID: try Self.topic("com.example.MyApp"), teamID: Vectors.teamID)
            let keys = [
                TestKey("TEAMKEY000").registered, TestKey("SCOPEDKEY0", scope: .environment(.production)).registered,
                TestKey(
                    "TOPICKEY00",
                    scope: .topics(.init(topics: [app.bundleID], environment: .sandbox, relatedKeyID: "TOPICKEY01"))
                ).registered,
            ]
            let certificate = try Self.certificate("0a", topics: ["com.example.MyApp", "com.example.MyApp.voip"])
            #expect(try await registry.add(app: app) == .added)
            for key in keys { #expect(try await registry.add(key: key) == .added) }
            #expect(try await registry.add(certificate: certificate))
            #expect(try await registry.revoke(key: "TEAMKEY000", now: Self.now))
            #expect(try await registry.revoke(certificate: "0a", now: Self.now))
            #expect(
                try await registry.update(app: app.bundleID, .init(allowsBroadcast: false))?.allowsBroadcast == false
            )
            #expect(try await registry.update(app: app.bundleID, .init(tokenLength: 32))?.tokenLength == 32)

            let again = try ProviderRegistry(database: database)
            #expect(again.app(app.bundleID)?.allowsBroadcast == false)
            #expect(again.tokenLength(for: try Self.topic("com.example.MyApp.voip")) == 32)
            #expect(try await again.update(app: app.bundleID, .init(tokenLength: .some(nil)))?.tokenLength == nil)
            #expect(try ProviderRegistry(database: database).app(app.bundleID)?.allowsBroadcast == false)
            #expect(try ProviderRegistry(database: database).app(app.bundleID)?.tokenLength == nil)
            #expect(again.keys(after: nil, limit: 10) == registry.keys(after: nil, limit: 10))
            #expect(again.keys(after: nil, limit: 10).count == 3)
            #expect(again.key("TEAMKEY000") == nil, "revoked")
            #expect(again.key("TOPICKEY00") == keys[2])
            #expect(again.isRevoked(certificate: "0a"))
            #expect(again.certificates(after: nil, limit: 10) == registry.certificates(after: nil, limit: 10))
        }
    }

    @Test func aChangeIsCounted() async throws {
        try await Self.withDatabase { database in
            let registry = try ProviderRegistry(database: database)
            var last = registry.changes
            func expectChange(_ isChanged: Bool = true) {
                #expect((registry.changes != last) == isChanged)
                last = registry.changes
            }
            let bundleID = try Self.topic(Vectors.bundleID)
            let app = ProviderApp(bundleID: bundleID, teamID: Vectors.teamID)
            _ = try await registry.add(app: app)
            expectChange()
            _ = try await registry.add(app: app)
            expectChange(false)
            _ = try await registry.update(app: bundleID, .init(allowsBroadcast: false))
            expectChange()
            _ = try await registry.remove(app: bundleID)
            expectChange()
            _ = try await registry.add(key: TestKey("TEAMKEY000").registered)
            expectChange()
            _ = try await registry.revoke(key: "TEAMKEY000", now: Self.now)
            expectChange()
            #expect(try await !registry.revoke(key: "TEAMKEY000", now: Self.now))
            expectChange(false)
        }
    }

    @Test func whatIsThereAlreadyIsToldFromWhatIsInTheWay() async throws {
        try await Self.withDatabase { database in
            let registry = try ProviderRegistry(database: database)
            let bundleID = try Self.topic(Vectors.bundleID)
            #expect(try await registry.add(app: .init(bundleID: bundleID, teamID: "DEF123GHIJ")) == .added)
            #expect(try await registry.add(app: .init(bundleID: bundleID, teamID: "DEF123GHIJ")) == .alreadyThere)
            #expect(try await registry.add(app: .init(bundleID: bundleID, teamID: "OTHERTEAM1")) == .conflict)
            let key = TestKey("TEAMKEY000").registered
            #expect(try await registry.add(key: key) == .added)
            #expect(try await registry.add(key: key) == .alreadyThere)
            #expect(try await registry.add(key: TestKey("TEAMKEY000").registered) == .conflict)
            #expect(try await registry.revoke(key: "TEAMKEY000", now: Self.now))
            #expect(try await registry.add(key: key) == .conflict, "a revoked key's id is not used again")
        }
    }

    @Test func aTeamHasTwoTeamScopedKeysInEachEnvironment() async throws {
        try await Self.withDatabase { database in
            let registry = try ProviderRegistry(database: database)
            func add(_ id: String, _ environment: PushEnvironment, team: String = Vectors.teamID) async throws
                -> ProviderRegistry.Change
            {
                try await registry.add(key: TestKey(id, team: team, scope: .environment(environment)).registered)
            }
            #expect(try await add("SCOPEDKEY0", .sandbox) == .added)
            #expect(try await add("SCOPEDKEY1", .sandbox) == .added)
            #expect(try await add("SCOPEDKEY2", .sandbox) == .full)
            #expect(try await add("SCOPEDKEY3", .production) == .added)
            #expect(try await add("SCOPEDKEY4", .sandbox, team: "OTHERTEAM1") == .added)
            #expect(try await registry.revoke(key: "SCOPEDKEY0", now: Self.now))
            #expect(try await add("SCOPEDKEY2", .sandbox) == .added)
        }
    }

    @Test func topicsOfAppsAndOfCertificatesAreKnownByTheirHash() async throws {
        try await Self.withDatabase { database in
            let registry = try ProviderRegistry(database: database)
            let management = try Self.topic("com.apple.mgmt.External.1")
            let call = try Self.topic("com.example.MyApp.voip")
            let app = ProviderApp(bundleID: try Self.topic("com.example.MyApp"), teamID: Vectors.teamID)
            #expect(registry.topic(for: TopicHash(call)) == nil)
            _ = try await registry.add(app: app)
            _ = try await registry.add(certificate: try Self.certificate("0a", topics: [management.name]))
            for registry in [registry, try ProviderRegistry(database: database)] {
                #expect(registry.topic(for: TopicHash(call)) == call)
                #expect(registry.topic(for: TopicHash(management)) == management)
            }
            #expect(try await registry.remove(app: app.bundleID))
            #expect(try await !registry.remove(app: app.bundleID))
            #expect(registry.topic(for: TopicHash(call)) == nil)
            #expect(registry.topic(for: TopicHash(management)) == management)
        }
    }

    @Test func listsComeInPages() async throws {
        try await Self.withDatabase { database in
            let registry = try ProviderRegistry(database: database)
            for name in ["c", "a", "b"] {
                _ = try await registry.add(app: .init(bundleID: try Self.topic(name), teamID: Vectors.teamID))
            }
            #expect(registry.apps(after: nil, limit: 2).map(\.bundleID.name) == ["a", "b"])
            #expect(registry.apps(after: "b", limit: 2).map(\.bundleID.name) == ["c"])
            #expect(registry.apps(after: "c", limit: 2).isEmpty)
            #expect(registry.apps(after: nil, limit: -1).isEmpty)
        }
    }

    @Test func rowsThatHoldSomethingElseAreLeftOut() async throws {
        try await Self.withDatabase { database in
            try await database.write { tables in
                try tables.database.execute(
                    sql: """
                        INSERT INTO app (bundleID, teamID) VALUES ('a b', 'x');
                        INSERT INTO key (keyID, teamID, publicKey, scope) VALUES ('x', 'y', x'00', 'other');
                        INSERT INTO key (keyID, teamID, publicKey, scope) VALUES ('z', 'y', x'00', 'topics');
                        INSERT INTO certificate (serial, topic, environments, topics, issuedAt, expiresAt)
                            VALUES ('x', '', 'moon', '', 1, 2);
                        INSERT INTO channel (environment, bundleID, id, policy, createdAt) VALUES ('moon', 'a', 'b', 7, 1);
                        """
                )
            }
            let registry = try ProviderRegistry(database: database)
            #expect(registry.apps(after: nil, limit: 10).isEmpty)
            #expect(registry.keys(after: nil, limit: 10).isEmpty)
            #expect(registry.certificates(after: nil, limit: 10).isEmpty)
            _ = try ChannelRegistry(database: database)
        }
    }

    private static func withDatabase(_ body: (GatewayDatabase) async throws -> Void) async throws {
        try await withTemporaryDirectory { folder in
            try await body(try GatewayDatabase(path: "\(folder)/gateway.sqlite"))
        }
    }

    private static func topic(_ name: String) throws -> Topic { try #require(Topic(name)) }

    private static func certificate(_ serial: String, topics: [String]) throws -> ProviderCertificate {
        let topics = topics.compactMap { Topic($0) }
        return ProviderCertificate(
            serial: serial,
            topic: try #require(topics.first),
            topics: Set(topics),
            environments: [.sandbox, .production],
            issuedAt: Self.now,
            expiresAt: Self.now.advanced(by: .seconds(86_400))
        )
    }
}
