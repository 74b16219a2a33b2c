import Foundation
import Metrics
import ProviderAPI
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

    /// Before, it was dropped.
    @Test func aPushBeyondTheShareOfItsAppWaits() async throws {
        let (sender, place) = (ScriptedSender(), Gate())
        let parts = Mutex<ProviderParts?>(nil)
        let capture: @Sendable (ProviderParts) -> (any ProviderExtension)? = { value in
            parts.withLock { $0 = value }
            return nil
        }
        try await withProvider(senders: sender, addition: capture) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            _ = try await provider.register(Vectors.tokenA, ["user": "ada"])
            let parts = try #require(parts.withLock { $0 })
            let bundleID = try #require(Topic(Vectors.bundleID))
            let limits = BudgetLimits(.init(whole: .held(1)), waiting: .init(), patience: .patience)
            let pusher = ChatPusher(
                store: parts.store,
                acceptor: parts.acceptor,
                budgets: Budgets([.chatPushes: limits]),
                metrics: ChatSessionMetrics(factory: NOOPMetricsHandler.instance),
                time: parts.time,
                logger: silentLogger
            )
            let session = RunningSession(
                key: ChatSessionKey(id: UUID(), revision: UUID()),
                app: try #require(try await parts.store.app(bundleID: bundleID)).id,
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
