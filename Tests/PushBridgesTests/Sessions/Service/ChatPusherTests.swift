import Foundation
import Metrics
import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct ChatPusherTests {
    private static func push(_ id: String) -> ChatPush {
        ChatPush(ChatMessage(sender: "bob", conversation: id, isDirect: true, text: "tea?", id: id, at: .start))
    }

    /// Adds the record of a session, without which nothing is pushed.
    private func addSession(to app: Int64, _ store: any ProviderStore) async throws -> ChatSessionKey {
        let record = ChatSessionRecord(
            app: app,
            user: "ada",
            chatProtocol: .irc,
            host: "irc.example.org",
            port: 6697,
            account: "ada",
            password: "tea",
            createdAt: .start
        )
        _ = try await store.addChatSession(record, perUser: 1, perApp: 1)
        return ChatSessionKey(id: record.id, revision: record.revision)
    }

    /// Before, it was dropped.
    @Test func aPushBeyondTheShareOfItsAppWaits() async throws {
        let (sender, place) = (ScriptedSender(), Gate())
        let parts = Mutex<ProviderComponents?>(nil)
        let capture: @Sendable (ProviderComponents) -> (any ProviderExtension)? = { value in
            parts.withLock { $0 = value }
            return nil
        }
        try await withProvider(senders: sender, addition: capture) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            _ = try await provider.register(Vectors.tokenA, ["user": "ada"])
            let parts = try #require(parts.withLock { $0 })
            let bundleID = try #require(Topic(Vectors.bundleID))
            let limits = BudgetLimits(.init(whole: .held(1)), waiting: .init(), patience: .patience)
            let pusher = ChatPushSubmitter(
                store: parts.store,
                acceptor: parts.acceptor,
                budgets: BudgetRegistry([.chatPushes: limits]),
                metrics: ChatSessionMetrics(factory: NOOPMetricsHandler.instance),
                time: parts.time,
                logger: silentLogger
            )
            let app = try #require(try await parts.store.app(bundleID: bundleID)).id
            let session = RunningSession(
                key: try await self.addSession(to: app, parts.store),
                app: app,
                bundleID: bundleID,
                user: "ada",
                chatProtocol: .irc,
                host: "irc.example.org",
                showsText: false
            )
            let first = pusher.push(Self.push("1"), session) { Issue.record("it has a place") }
            let second = pusher.push(Self.push("2"), session) { place.open() }
            #expect(first && !second)
            // The end waits for those that wait.
            pusher.end()
            await pusher.run()
            await place.pass()
            try await sender.waitForPushes(2)
        }
    }
}
