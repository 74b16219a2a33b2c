#if PostgreSQL
import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Several stores on one database, as several nodes have them.
@Suite(PostgreSQLServer.isInstalled, .timeLimit(.patience)) struct NodeTests {
    private static let description = NodeDescription(name: "node", version: "1")
    private let now = Vectors.issuedAt

    /// Runs a test with nodes that have joined, and an app.
    private func withNodes(_ count: Int, _ body: ([SQLStore], Int64) async throws -> Void) async throws {
        let settings = try PostgreSQLServer.shared.empty()
        var stores: [SQLStore] = []
        for _ in 0..<count {
            stores.append(try await SQLStore(settings, masterKey: try .fixture(7), isShared: true))
        }
        for store in stores { try await store.join(Self.description, now: self.now) }
        let app = try await stores[0].addApp(bundleID: try #require(Topic(Vectors.bundleID)), name: nil, now: self.now)
            .app.id
        let result: Result<Void, any Error>
        do { result = .success(try await body(stores, app)) } catch { result = .failure(error) }
        for store in stores { try await store.close() }
        try result.get()
    }

    private func seconds(_ seconds: Int) -> Timestamp { self.now.advanced(by: .seconds(seconds)) }

    @Test func aSilentNodeLosesItsLeasesAndItsDuties() async throws {
        try await self.withNodes(2) { nodes, app in
            let first = try await nodes[0].beat(Self.description, at: self.now, judges: true)
            #expect(first.duties == Set(NodeDuty.allCases) && first.count == 2)
            _ = try await nodes[0].start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await nodes[0].claimed()
            for second in [5, 10, 15, 20] {
                let other = try await nodes[1].beat(Self.description, at: self.seconds(second), judges: true)
                #expect(other.duties.isEmpty && other.ended.isEmpty)
                #expect(try await !nodes[1].isClaimable(at: self.seconds(second)))
            }
            let other = try await nodes[1].beat(Self.description, at: self.seconds(21), judges: true)
            #expect(other.ended == [first.id] && other.duties == Set(NodeDuty.allCases) && other.count == 1)
            #expect(try await nodes[1].isClaimable(at: self.seconds(21)))
            // The silent node returns: it writes nothing of what it had, and is a new node without duties.
            #expect(try await nodes[0].maySend(claim) == false)
            let again = try await nodes[0].beat(Self.description, at: self.seconds(22), judges: true)
            #expect(again.id != first.id && again.duties.isEmpty && again.count == 2)
        }
    }

    @Test func whatASilentNodeBeganAtMostOnceIsNeverSentAgain() async throws {
        try await self.withNodes(2) { nodes, app in
            _ = try await nodes[0].beat(Self.description, at: self.now, judges: true)
            let notification = try await nodes[0].start(app: app, to: .tokens([.numbered(1), .numbered(2)])) {
                $0.guarantee = .atMostOnce
            }
            let claim = try await nodes[0].claimed()
            var page = PageResult(claim)
            page.deliveries = try await nodes[0].readAll(claim, page: 10).map { .fixture($0, .sending) }
            page.step = .last(claim)
            #expect(try await nodes[0].begin(page, now: self.now).result == .inProgress)
            for second in [5, 10, 15, 20] {
                let beat = try await nodes[1].beat(Self.description, at: self.seconds(second), judges: true)
                #expect(beat.interrupted == 0)
            }
            #expect(try await nodes[1].beat(Self.description, at: self.seconds(21), judges: true).interrupted == 2)
            #expect(try await nodes[1].current(notification).progress.retrying == 2, "they get their final states")
            #expect(try await nodes[1].beat(Self.description, at: self.seconds(22), judges: true).interrupted == 0)
        }
    }

    /// All nodes are silent then, and none is dead.
    @Test func anOutageOfTheDatabaseKillsNoNode() async throws {
        try await self.withNodes(2) { nodes, _ in
            for node in nodes { _ = try await node.beat(Self.description, at: self.now, judges: true) }
            let beat = try await nodes[1].beat(Self.description, at: self.seconds(3600), judges: true)
            #expect(beat.ended.isEmpty && beat.count == 2)
            _ = try await nodes[1].beat(Self.description, at: self.seconds(3605), judges: true)
            #expect(try await nodes[0].beat(Self.description, at: self.seconds(3606), judges: true).count == 2)
        }
    }

    @Test func aNodeThatLeavesGivesEverythingBack() async throws {
        try await self.withNodes(2) { nodes, app in
            _ = try await nodes[0].beat(Self.description, at: self.now, judges: true)
            _ = try await nodes[0].start(app: app, to: .tokens([.numbered(1)]))
            _ = try await nodes[0].claimed()
            try await nodes[0].leave(now: self.now)
            #expect(try await nodes[1].isClaimable(at: self.now))
            #expect(
                try await nodes[1].beat(Self.description, at: self.now, judges: true).duties == Set(NodeDuty.allCases)
            )
        }
    }

    @Test func aStartTakesNothingFromLiveNodes() async throws {
        try await self.withNodes(2) { nodes, app in
            _ = try await nodes[0].start(app: app, to: .tokens([.numbered(1)]))
            let claim = try await nodes[0].claimed()
            #expect(try await nodes[1].recover(now: self.now) == 0)
            #expect(try await nodes[0].maySend(claim))
        }
    }

    @Test func changesOfAnotherNodeAreSeen() async throws {
        try await self.withNodes(2) { nodes, app in
            _ = try await nodes[1].readChanges()
            #expect(try await nodes[1].app(id: app)?.name == nil)
            let generation = nodes[1].bridgeGeneration
            #expect(try await nodes[1].readChanges().isEmpty)
            var changes = AppChanges()
            changes.name = .set("New")
            _ = try await nodes[0].changeApp(app, changes)
            #expect(try await nodes[1].app(id: app)?.name == nil, "it is cached")
            #expect(try await nodes[1].readChanges() == [StoreChange(kind: .app, app: 0)])
            #expect(try await nodes[1].app(id: app)?.name == "New")
            #expect(nodes[1].bridgeGeneration > generation)
            let key = CredentialRecord.key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
            try await nodes[0].setCredential(key, app: app, environment: .sandbox)
            #expect(try await nodes[1].readChanges().contains(StoreChange(kind: .environment, app: app)))
        }
    }
}

extension SQLStore {
    fileprivate func isClaimable(at now: Timestamp) async throws -> Bool {
        let claims = try await self.claim(
            lane: .bulk,
            at: ClockReading(now),
            until: now.advanced(by: .seconds(300)),
            limit: 1,
            from: ClaimFilter()
        )
        try await self.release(claims)
        return !claims.isEmpty
    }
}
#endif
