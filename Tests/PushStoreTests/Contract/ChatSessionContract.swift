import Foundation
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

/// The contract of every ``ChatSessionStore``.
@Suite(.timeLimit(.patience)) struct ChatSessionContract: StoreContract {
    private func session(_ app: Int64, user: String = "ada") -> ChatSessionRecord {
        ChatSessionRecord(
            app: app,
            user: user,
            chatProtocol: .irc,
            host: "irc.example.org",
            port: 6697,
            account: "ada",
            password: "tea",
            settings: ["showText": true],
            createdAt: self.now
        )
    }

    private func add(_ session: ChatSessionRecord, to store: any ProviderStore) async throws -> ChatSessionRecord {
        let addition = try await store.addChatSession(session, perUser: 10, perApp: 10)
        guard case .added(let stored) = addition else { throw NothingToClaim() }
        return stored
    }

    private func keys(_ sessions: [ChatSessionRecord]) -> [ChatSessionKey] {
        sessions.map { ChatSessionKey(id: $0.id, revision: $0.revision) }
    }

    @Test(arguments: StoreBackend.available)
    func aSessionIsKeptWithItsPassword(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let first = try await self.add(self.session(app), to: store)
            let second = try await self.add(self.session(app, user: "bob"), to: store)
            #expect(first.number < second.number)
            #expect(try await store.chatSession(first.id) == first)
            #expect(try await store.chatSession(UUID()) == nil)
            let all = try await store.chatSessions(app: app, user: nil, after: 0, limit: 10)
            #expect(all.map(\.id) == [first.id, second.id] && all.allSatisfy { $0.password.isEmpty })
            #expect(try await store.chatSessions(app: app, user: nil, after: 0, limit: 1).map(\.id) == [first.id])
            let rest = try await store.chatSessions(app: app, user: nil, after: first.number, limit: 10)
            #expect(rest.map(\.id) == [second.id])
            #expect(try await store.chatSessions(app: app, user: "bob", after: 0, limit: 10).map(\.id) == [second.id])
            #expect(try await store.chatSessions(app: app + 1, user: nil, after: 0, limit: 10).isEmpty)
            #expect(try await store.activeChatSessions() == self.keys([first, second]))
            #expect(try await store.removeChatSession(first.id, app: app + 1) == false)
            #expect(try await store.removeChatSession(first.id, app: app))
            #expect(try await store.removeChatSession(first.id, app: app) == false)
            #expect(try await store.activeChatSessions() == self.keys([second]))
        }
    }

    @Test(arguments: StoreBackend.available)
    func usersAndAppsHaveLimits(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            func add(_ user: String) async throws -> ChatSessionAdditionResult {
                try await store.addChatSession(self.session(app, user: user), perUser: 1, perApp: 2)
            }
            guard case .added = try await add("ada") else { throw NothingToClaim() }
            #expect(try await add("ada") == .tooManyOfUser)
            guard case .added = try await add("bob") else { throw NothingToClaim() }
            #expect(try await add("eve") == .tooManyOfApp)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aChangeOfStateIsANewVersion(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let session = try await self.add(self.session(app), to: store)
            let later = self.now.advanced(by: .seconds(1))
            let stopped = try await store.setChatSessionState(
                .stopped,
                of: session.id,
                app: app,
                password: nil,
                now: later
            )
            #expect(stopped?.state == .stopped && stopped?.revision != session.revision && stopped?.changedAt == later)
            #expect(try await store.activeChatSessions().isEmpty)
            #expect(try await store.chatSession(session.id)?.password == "tea")
            let active = try await store.setChatSessionState(
                .active,
                of: session.id,
                app: app,
                password: "new",
                now: later
            )
            #expect(active?.state == .active && active?.password.isEmpty == true)
            #expect(try await store.chatSession(session.id)?.password == "new")
            let other = try await store.setChatSessionState(
                .active,
                of: session.id,
                app: app + 1,
                password: nil,
                now: later
            )
            #expect(other == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func progressIsThatOfItsVersion(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let session = try await self.add(self.session(app), to: store)
            let key = ChatSessionKey(id: session.id, revision: session.revision)
            let later = self.now.advanced(by: .seconds(9))
            try await store.noteChatSessions([key: ChatSessionProgress(lastError: "lost", seenThrough: later)])
            var stored = try await store.chatSession(session.id)
            #expect(stored?.lastError == "lost" && stored?.seenThrough == later && stored?.state == .active)
            #expect(stored?.usesSCRAM == false)
            try await store.noteChatSessions([key: ChatSessionProgress(seenThrough: later, usesSCRAM: true)])
            // Time never goes back, a proof of the server stays, and an earlier version says nothing.
            try await store.noteChatSessions([key: ChatSessionProgress(seenThrough: self.now)])
            let former = ChatSessionKey(id: session.id, revision: UUID())
            try await store.noteChatSessions([former: ChatSessionProgress(hasFailed: true, seenThrough: later)])
            stored = try await store.chatSession(session.id)
            #expect(stored?.lastError == nil && stored?.seenThrough == later && stored?.state == .active)
            #expect(stored?.usesSCRAM == true)
            try await store.noteChatSessions([
                key: ChatSessionProgress(hasFailed: true, lastError: "x", seenThrough: later)
            ])
            #expect(try await store.chatSession(session.id)?.state == .failed)
            #expect(try await store.activeChatSessions().isEmpty)
            let active = try await store.setChatSessionState(
                .active,
                of: session.id,
                app: app,
                password: nil,
                now: later
            )
            #expect(active?.lastError == nil)
            try await store.noteChatSessions([:])
        }
    }

    /// The messages of a session that is stopped are pushed, and those of one that is gone are not, such as with its user.
    @Test(arguments: StoreBackend.available)
    func nothingIsAcceptedOfASessionThatIsGone(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let session = try await self.add(self.session(app), to: store)
            func accept() async throws -> Acceptance? {
                let notification = try NotificationRecord.fixture(app: app, to: .devices(.user("ada")))
                let shards = [ShardPlan(notBefore: self.now)]
                let request = AcceptanceRequest(notification, shards: shards, session: session.id)
                let writes = LedgerBatch(requests: [request])
                let results = try await store.write(writes, now: self.now, leaseUntil: self.later)
                return try results.requests.first?.get().acceptance
            }
            #expect(try await accept() == .accepted)
            let stopped = try await store.setChatSessionState(
                .stopped,
                of: session.id,
                app: app,
                password: nil,
                now: self.later
            )
            #expect(stopped != nil)
            #expect(try await accept() == .accepted)
            let erasure = try await store.eraseUser("ada", app: app, steady: self.now)
            #expect(try await accept() == .sessionRemoved)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await accept() == .sessionRemoved)
            let left = try await store.notifications(app: app, state: nil, before: nil, limit: 9).notifications
            #expect(left.isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func itGoesWithItsApp(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let session = try await self.add(self.session(app), to: store)
            _ = try await store.eraseApp(app, now: self.now, steady: self.now)
            #expect(try await store.chatSession(session.id) == nil)
        }
    }
}
