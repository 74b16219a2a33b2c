import Foundation
import ProviderModel
import PushSender
import PushStore
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Provider tokens that outlive a process.
@Suite(.timeLimit(.patience)) struct ProviderTokenCacheTests {
    @Test(arguments: StoreBackend.available)
    func aRestartContinuesWithTheTokenInUse(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let time = ManualTime()
            let first = try await Self.text(of: Self.process(store, time), time)
            for minutes in [1, 18, 25] {
                time.advance(by: .seconds(minutes * 60))
                #expect(try await Self.text(of: Self.process(store, time), time) == first, "44 minutes at last")
            }
            time.advance(by: .seconds(60))
            let second = try await Self.text(of: Self.process(store, time), time)
            #expect(second != first)
            #expect(try await Self.text(of: Self.process(store, time), time) == second)
        }
    }

    /// Connections of both lanes and environments, and apps that share the key.
    @Test(arguments: StoreBackend.available)
    func allThatSignWithAKeyUseOneToken(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let time = ManualTime()
            let tokens = Self.process(store, time)
            let used = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...20 { group.addTask { try await Self.text(of: tokens, time) } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(used.count == 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRejectedTokenIsRenewedOnceInTwentyMinutes(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let time = ManualTime()
            let tokens = Self.process(store, time)
            let source = try Self.source(tokens)
            let first = try await Self.text(of: tokens, time)
            source.expired(first, now: time.now)
            #expect(try await Self.text(of: tokens, time) == first, "another would come too soon")
            time.advance(by: .seconds(21 * 60))
            source.expired(first, now: time.now)
            // It is renewed in the background, and the rejected one is used until then.
            try await eventually { try await Self.text(of: tokens, time) != first }
            let second = try await Self.text(of: tokens, time)
            // Many requests carried the old one.
            source.expired(first, now: time.now)
            source.expired(second, now: time.now)
            #expect(try await Self.text(of: tokens, time) == second)
            #expect(try await Self.text(of: Self.process(store, time), time) == second)
        }
    }

    @Test func withoutTheStoreATokenIsSignedAloneAndKeptLater() async throws {
        let (store, time) = (FailingTokenStore(), ManualTime())
        let tokens = ProviderTokenCache(store: store, time: time, logger: silentLogger)
        let alone = try await Self.text(of: tokens, time)
        time.advance(by: .seconds(60))
        #expect(try await Self.text(of: tokens, time) == alone)
        store.isWorking.withLock { $0 = true }
        #expect(try await Self.text(of: tokens, time) == alone)
        #expect(store.offered.withLock { $0.last } == alone)
        // In use up to 55 minutes while it cannot be renewed, and not longer.
        store.isWorking.withLock { $0 = false }
        time.advance(by: .seconds(53 * 60))
        #expect(try await Self.text(of: tokens, time) == alone)
        time.advance(by: .seconds(60))
        #expect(try await Self.text(of: tokens, time) != alone)
    }

    private static func process(_ store: any ProviderStore, _ time: ManualTime) -> ProviderTokenCache {
        ProviderTokenCache(store: store, time: time, logger: silentLogger)
    }

    private static func source(_ tokens: ProviderTokenCache) throws -> any ProviderTokenSource {
        guard case .token(let key) = tokens.keep(.token(try Self.key())) else { throw NothingToClaim() }
        return try #require(key.tokens)
    }

    /// As the directory and then a connection do it.
    private static func text(of tokens: ProviderTokenCache, _ time: ManualTime) async throws -> String {
        guard case .token(let key) = tokens.keep(.token(try Self.key())) else { throw NothingToClaim() }
        await tokens.prepare(key)
        return try #require(key.tokens).text(now: time.now)
    }

    private static func key() throws -> ProviderKey {
        try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.privateKey)
    }
}

/// Takes every token, when it works.
private final class FailingTokenStore: ProviderTokenStore {
    let isWorking = Mutex(false)
    let offered = Mutex<[String]>([])

    func providerToken(
        offering offered: ProviderTokenRecord,
        rejected: Timestamp?,
        now: Timestamp
    ) throws -> ProviderTokenRecord {
        guard self.isWorking.withLock({ $0 }) else { throw StoreError.cannotWrite(why: "no") }
        self.offered.withLock { $0.append(offered.text) }
        return offered
    }
}
