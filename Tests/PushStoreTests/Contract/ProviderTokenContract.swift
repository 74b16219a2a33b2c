import PushProtocol
import PushStore
import PushTesting
import Testing

/// What every store of provider tokens must do.
@Suite(.timeLimit(.minutes(5))) struct ProviderTokenContract {
    let now = Vectors.issuedAt
    let key = ProviderTokenKey(teamID: Vectors.teamID, keyID: Vectors.keyID, fingerprint: "f")

    private func at(_ minutes: Int) -> Timestamp { self.now.advanced(by: .seconds(minutes * 60)) }

    /// What is used when a new one of this minute is offered.
    private func offer(
        _ minute: Int,
        to store: any PushStore,
        key: ProviderTokenKey? = nil,
        refused: Timestamp? = nil
    ) async throws -> String {
        let offered = ProviderTokenRecord(key: key ?? self.key, text: "of \(minute)", issuedAt: self.at(minute))
        return try await store.providerToken(offering: offered, refused: refused, now: self.at(minute)).text
    }

    @Test(arguments: StoreBackend.available)
    func aTokenIsUsedUntilItIsDue(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            #expect(try await self.offer(0, to: store) == "of 0")
            for minute in [1, 19, 21, 44] { #expect(try await self.offer(minute, to: store) == "of 0") }
            #expect(try await self.offer(45, to: store) == "of 45")
            #expect(try await self.offer(46, to: store) == "of 45")
            var other = self.key
            other.fingerprint = "another key with the same ids"
            #expect(try await self.offer(46, to: store, key: other) == "of 46")
            #expect(try await self.offer(47, to: store) == "of 45")
            // A clock that was wrong by a day, and is right again.
            #expect(try await self.offer(1440, to: store) == "of 1440")
            #expect(try await self.offer(50, to: store) == "of 50")
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRefusedTokenIsReplacedOnceInTwentyMinutes(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            _ = try await self.offer(0, to: store)
            #expect(try await self.offer(19, to: store, refused: self.at(0)) == "of 0", "too soon")
            #expect(try await self.offer(20, to: store, refused: nil) == "of 20", "it was marked")
            // A reply that was late speaks of the token before.
            #expect(try await self.offer(41, to: store, refused: self.at(0)) == "of 20")
            #expect(try await self.offer(42, to: store, refused: self.at(20)) == "of 42")
            #expect(try await self.offer(43, to: store, refused: self.at(42)) == "of 42")
        }
    }

    @Test(arguments: StoreBackend.available)
    func ofManyThatSignAtOnceOneTokenIsUsed(backend: StoreBackend) async throws {
        try await backend.withStore { store, _ in
            let used = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...20 {
                    let offered = ProviderTokenRecord(key: self.key, text: "\(number)", issuedAt: self.now)
                    group.addTask {
                        try await store.providerToken(offering: offered, refused: nil, now: self.now).text
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(used.count == 1)
        }
    }
}
