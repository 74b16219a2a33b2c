import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of rows whose owner was removed after it had been looked up. The error names the owner.
@Suite(.timeLimit(.patience)) struct RemovedOwnerContract: StoreContract {
    private func change(_ app: Int64) -> LibraryChange {
        let (item, by) = (LibraryItemName("beta"), KeyReference(id: UUID(), name: "ann"))
        return LibraryChange(.add, app: app, kind: .audience, item: item, by: by, at: self.now)
    }

    private func channel(_ app: Int64) throws -> ChannelRecord {
        let id = try #require(ChannelID("YQ=="))
        return ChannelRecord(
            id: id,
            app: app,
            environment: .sandbox,
            storage: .newest,
            name: nil,
            createdAt: self.now
        )
    }

    private func chatSession(_ app: Int64) -> ChatSessionRecord {
        ChatSessionRecord(
            app: app,
            user: "ada",
            chatProtocol: .irc,
            host: "irc.example.org",
            port: 6697,
            account: "ada",
            password: "tea",
            settings: [:],
            createdAt: self.now
        )
    }

    private func entitlementServer(_ app: Int64) -> EntitlementServerRecord {
        EntitlementServerRecord(
            app: app,
            url: "https://publisher.example.com:443/a",
            form: .xml,
            whenDown: .refuse,
            secret: "first",
            changedAt: self.now
        )
    }

    private func node(_ app: Int64) -> XMPPNodeRecord {
        XMPPNodeRecord(
            node: "a",
            app: app,
            component: "push.example.org",
            secretHash: Data(repeating: 1, count: 32),
            owner: .installation("phone-1"),
            domain: "example.com",
            account: nil,
            createdAt: self.now
        )
    }

    private func webhook(_ app: Int64) -> WebhookRecord {
        WebhookRecord(
            id: UUID(),
            app: app,
            url: "https://example.com/hook",
            secret: "whisper",
            events: [.delivery],
            createdAt: self.now
        )
    }

    @Test(arguments: StoreBackend.available)
    func whatIsOfARemovedAppIsNotStored(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let gone = app + 1000
            let key = CredentialRecord.key(
                teamID: Vectors.teamID,
                keyID: Vectors.keyID,
                privateKey: Vectors.privateKey
            )
            let secret = UserSecretRecord(id: UUID(), createdAt: self.now, secret: "whisper")
            let bridge = BridgeRecord(kind: .fcm, name: "a", app: gone, changedAt: self.now)
            let target = AppEnvironment(app: gone, environment: .sandbox)
            let writes: [(name: String, run: () async throws -> Void)] = [
                ("device", { _ = try await store.register(1, app: gone) }),
                ("credential", { try await store.setCredential(key, app: gone, environment: .sandbox) }),
                ("stop", { _ = try await store.stop(AppStop(app: gone, since: self.now, reason: nil, by: nil)) }),
                ("user secret", { _ = try await store.addUserSecret(secret, app: gone, limit: 9) }),
                ("schedule", { _ = try await store.addSchedule(try .fixture(app: gone)) }),
                ("webhook", { _ = try await store.addWebhook(self.webhook(gone), limit: 9) }),
                ("library", { _ = try await store.changeLibrary(self.change(gone), limits: LibraryLimits()) }),
                (
                    "entitlement server",
                    { _ = try await store.setEntitlementServer(self.entitlementServer(gone), keepsSecret: false) }
                ),
                ("bridge", { _ = try await store.setBridge(bridge, keepsSecret: false) }),
                (
                    "shadow",
                    { try await store.addShadow(ShadowComparison(), of: .fcm, name: "a", app: gone, now: self.now) }
                ),
                ("XMPP node", { _ = try await store.setXMPPNode(self.node(gone)) }),
                (
                    "chat session",
                    { _ = try await store.addChatSession(self.chatSession(gone), perUser: 9, perApp: 9) }
                ),
                ("channel", { _ = try await store.addChannel(try self.channel(gone)) }),
                (
                    "feedback",
                    { _ = try await store.beginFeedback(of: target, due: nil, nextAt: self.later, now: self.now) }
                ),
            ]
            for write in writes {
                await #expect(throws: StoreError.ownerRemoved(.app), "\(write.name)") { try await write.run() }
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatIsOfARemovedNotificationOrResourceIsNotStored(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            await #expect(throws: StoreError.ownerRemoved(.notification)) {
                try await store.changeBadges(by: 1, notification: 1000, app: app, holders: ["alice"])
            }
            let count = try await store.badge(app: app, holder: "alice")
            #expect(count == 0)
            let message = PushMessageRecord(
                id: UUID(),
                app: app,
                resource: UUID(),
                tokenHash: [1, 2, 3],
                topic: nil,
                body: Data("1".utf8),
                expiresAt: self.later
            )
            await #expect(throws: StoreError.ownerRemoved(.pushResource)) { try await store.addPushMessage(message) }
        }
    }

    /// Whoever repeats a write until it succeeds need not repeat this one.
    @Test func onlyARemovedOwnerStaysRemoved() {
        for owner in [RowOwner.app, .notification, .pushResource] {
            #expect(!StoreError.ownerRemoved(owner).isTemporary)
        }
        let others: [StoreError] = [
            .cannotWrite(why: "full"), .unavailable(why: "gone"), .queryTooExpensive(budget: .seconds(1)),
            .queryInterrupted, .ending, .wrongMasterKey,
        ]
        #expect(others.allSatisfy { $0.isTemporary })
    }
}
