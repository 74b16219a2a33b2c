import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``ProviderTokenStore``.
@Suite(.timeLimit(.patience)) struct ProviderTokenContract: StoreContract {
    let key = ProviderTokenKey(teamID: Vectors.teamID, keyID: Vectors.keyID, fingerprint: "f")

    @Test(arguments: StoreBackend.available)
    func aTokenIsUsedUntilItIsDue(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let first = try await store.offer(0, self.key)
            #expect(first == "of 0")
            for minute in [1, 19, 21, 44] { #expect(try await store.offer(minute, self.key) == "of 0") }
            #expect(try await store.offer(45, self.key) == "of 45")
            #expect(try await store.offer(46, self.key) == "of 45")
            var other = self.key
            other.fingerprint = "another key with the same ids"
            #expect(try await store.offer(46, other) == "of 46")
            #expect(try await store.offer(47, self.key) == "of 45")
            // The clock was wrong by a day and is right again.
            #expect(try await store.offer(1440, self.key) == "of 1440")
            #expect(try await store.offer(50, self.key) == "of 50")
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRejectedTokenIsReplacedOnceInTwentyMinutes(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            _ = try await store.offer(0, self.key)
            #expect(try await store.offer(19, self.key, rejected: 0) == "of 0", "too soon")
            #expect(try await store.offer(20, self.key) == "of 20", "it was marked")
            // A late response is about the token before.
            #expect(try await store.offer(41, self.key, rejected: 0) == "of 20")
            #expect(try await store.offer(42, self.key, rejected: 20) == "of 42")
            #expect(try await store.offer(43, self.key, rejected: 42) == "of 42")
        }
    }

    @Test(arguments: StoreBackend.available)
    func ofManyThatSignAtOnceOneTokenIsUsed(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let used = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...20 {
                    let offered = ProviderTokenRecord(key: self.key, text: "\(number)", issuedAt: self.now)
                    group.addTask {
                        try await store.providerToken(offering: offered, rejected: nil, now: self.now).text
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(used.count == 1)
        }
    }
}

extension ProviderTokenStore {
    /// Returns the text of the token to be used in this minute, when a new one is offered.
    /// - Parameter rejected: the minute of the token that the push service has rejected.
    fileprivate func offer(_ minute: Int, _ key: ProviderTokenKey, rejected: Int? = nil) async throws -> String {
        func at(_ minute: Int) -> Timestamp { Vectors.issuedAt.advanced(by: .seconds(minute * 60)) }
        let offered = ProviderTokenRecord(key: key, text: "of \(minute)", issuedAt: at(minute))
        return try await self.providerToken(offering: offered, rejected: rejected.map(at), now: at(minute)).text
    }
}
