import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The requests for an erasure: to begin it, for its state, and another one after its end.
@Suite(.timeLimit(.patience)) struct ErasureRequestTests {
    private let now = Vectors.issuedAt

    private func isRegistered(_ number: Int, _ store: any ProviderStore, _ app: Int64) async throws -> Bool {
        try await !store.devices(app: app, token: .numbered(number)).isEmpty
    }

    /// What the user registers and says after the request stays while the erasure is under way, however often its state is
    /// asked for.
    @Test(arguments: StoreBackend.available)
    func askingForTheStateErasesNothing(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let later = self.now.advanced(by: .seconds(1))
            try await store.register(1, app: app) { $0.user = .set("alice") }
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            try await store.register(2, app: app) { $0.user = .set("alice") }
            try await store.setPreferences(Preferences(optOuts: ["b"]), app: app, user: "alice")
            let notification = try await store.start(app: app, to: .devices(.user("alice")))
            for _ in 1...2 {
                #expect(try await store.eraseUser("alice", app: app, steady: later) == erasure)
                while try await store.continueErasure(erasure, now: later) {}
                #expect(try await !self.isRegistered(1, store, app))
                #expect(try await self.isRegistered(2, store, app))
                #expect(try await store.preferences(app: app, user: "alice").optOuts == ["b"])
                #expect(try await store.notification(notification.id) != nil)
            }
            try await store.noteAnswered(erasure)
            let second = try await store.eraseUser("alice", app: app, steady: later)
            #expect(second.id == erasure.id && second.isUnderWay && second.requestedAt == later)
            while try await store.continueErasure(second, now: later) {}
            #expect(try await !self.isRegistered(2, store, app))
            #expect(try await store.preferences(app: app, user: "alice") == Preferences())
            #expect(try await store.notification(notification.id) == nil)
        }
    }

    /// The end of an earlier request, which comes late, is none of the later one.
    @Test(arguments: StoreBackend.available)
    func theEndOfAnEarlierRequestIsNotThatOfALaterOne(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let first = try await store.eraseUser("alice", app: app, steady: self.now)
            try await store.noteAnswered(first)
            let second = try await store.eraseUser("alice", app: app, steady: self.now)
            #expect(second.request == first.request + 1)
            try await store.noteAnswered(first)
            try await store.setBadge(3, app: app, holder: "user:alice")
            try await store.finishErasure(first)
            #expect(try await store.badge(app: app, holder: "user:alice") == 3)
            #expect(try await store.eraseUser("alice", app: app, steady: self.now) == second)
            try await store.finishErasure(second)
            #expect(try await store.badge(app: app, holder: "user:alice") == 0)
            #expect(try await store.erasures().map(\.isEmptied) == [true])
            // One whose rows and whose name are gone is another one.
            #expect(try await store.eraseUser("alice", app: app, steady: self.now).id != second.id)
        }
    }
}
