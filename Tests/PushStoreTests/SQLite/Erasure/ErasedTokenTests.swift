import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The tokens of an erased user, which notifications name and which another user may register.
@Suite(.timeLimit(.patience)) struct ErasedTokenTests {
    private let now = Vectors.issuedAt

    private func erase(_ user: String, _ store: any ProviderStore, _ app: Int64) async throws -> ErasureRecord {
        let erasure = try await store.eraseUser(user, app: app, steady: self.now)
        while try await store.continueErasure(erasure, now: self.now) {}
        return erasure
    }

    @Test(arguments: StoreBackend.available)
    func theOtherTokensKeepTheirPositions(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let named = try await store.start(app: app, to: .tokens((1...3).map { .numbered($0) }))
            #expect(try await store.current(named).namedRecipients.map(\.id) == [-1, -2, -3])
            try await store.register(1, app: app) { $0.user = .set("alice") }
            _ = try await self.erase("alice", store, app)
            let recipients = try await store.current(named).namedRecipients
            #expect(recipients.map(\.id) == [-2, -3])
            #expect(recipients.map(\.token) == [.numbered(2), .numbered(3)])
        }
    }

    /// An answer that does not wait for all devices counts what is under way to each of them.
    @Test(arguments: StoreBackend.available)
    func allTokensAreKnownBeforeTheDevicesAreGone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for number in 1...30 { try await store.register(number, app: app) { $0.user = .set("alice") } }
            try await store.register(31, app: app) { $0.user = .set("bob") }
            let tokens = Set((1...30).map { DeviceToken.numbered($0) })
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(try await store.tokens(of: erasure) == tokens)
            #expect(try await store.continueErasure(erasure, now: self.now), "some are left")
            #expect(try await store.tokens(of: erasure) == tokens)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.tokens(of: erasure) == tokens)
        }
    }

    /// A token that another user registers after the request is that one's, also while the erasure settles, and when it is
    /// asked for again.
    @Test(arguments: StoreBackend.available)
    func aTokenThatAnotherRegistersIsNotErased(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.register(1, app: app) { $0.user = .set("alice") }
            let before = try await store.start(app: app, to: .tokens([.numbered(1)]))
            let erasure = try await self.erase("alice", store, app)
            let device = try await store.register(1, app: app) { $0.user = .set("bob") }
            try await store.apply(.suspected, to: device, app: app)
            let after = try await store.start(app: app, to: .tokens([.numbered(1)]))
            for isAskedForAgain in [false, true] {
                if isAskedForAgain {
                    try await store.noteAnswered(erasure)
                    #expect(try await self.erase("alice", store, app).id == erasure.id)
                } else {
                    #expect(try await !store.continueErasure(erasure, now: self.now))
                }
                #expect(try await store.current(before).audience == .tokens([]))
                #expect(try await store.current(after).audience == .tokens([.numbered(1)]))
                let events = try await store.tokenEvents(
                    app: app,
                    token: .numbered(1),
                    action: nil,
                    before: nil,
                    limit: 9
                )
                #expect(events.map(\.action) == [.suspected])
            }
        }
    }

    /// What a user says after the request is not erased while that settles.
    @Test(arguments: StoreBackend.available)
    func preferencesFromAfterTheRequestStay(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await store.setPreferences(Preferences(optOuts: ["a"]), app: app, user: "alice")
            let erasure = try await self.erase("alice", store, app)
            #expect(try await store.preferences(app: app, user: "alice") == Preferences())
            try await store.setPreferences(Preferences(optOuts: ["b"]), app: app, user: "alice")
            #expect(try await !store.continueErasure(erasure, now: self.now))
            #expect(try await store.preferences(app: app, user: "alice").optOuts == ["b"])
        }
    }
}
