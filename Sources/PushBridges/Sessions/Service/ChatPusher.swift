import Foundation
import Logging
import PushProvider
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Hands pushes of sessions to the provider's one way into the ledger.
final class ChatPusher: Sendable {
    /// The most pushes that wait; further ones are counted and dropped.
    private static let maximumWaiting = 10_000
    /// The pushes that are accepted at a time.
    private static let width = 8
    /// The tries of a push while the store cannot write, and the time between them.
    private static let (tries, pause) = (5, Duration.seconds(1))

    /// A push of an app's session.
    private struct Waiting: Sendable {
        var app: Int64
        var request: ChatPushRequest
        var arrived: Timestamp
    }

    private let store: any ProviderStore
    private let acceptor: NotificationAcceptor
    private let metrics: ChatSessionMetrics
    private let time: any TimeSource
    private let log: LimitedLog
    private let (pushes, continuation) = AsyncStream.makeStream(
        of: Waiting.self,
        bufferingPolicy: .bufferingOldest(ChatPusher.maximumWaiting)
    )

    init(
        store: any ProviderStore,
        acceptor: NotificationAcceptor,
        metrics: ChatSessionMetrics,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.acceptor, self.metrics, self.time) = (store, acceptor, metrics, time)
        self.log = LimitedLog(logger)
    }

    func push(_ push: ChatPush, _ session: RunningSession) {
        let request = ChatPushRequest(
            push,
            session: session.key.id,
            user: session.user,
            bridge: "\(session.chatProtocol.rawValue):\(session.host)",
            showsText: session.showsText
        )
        let waiting = Waiting(app: session.app, request: request, arrived: self.time.now)
        guard case .enqueued = self.continuation.yield(waiting) else {
            self.metrics.count(.dropped)
            return self.log.log(.error, "a message of a chat session is not pushed, as too many wait", [:])
        }
    }

    /// Ends ``run()`` once all pushes are accepted.
    func end() { self.continuation.finish() }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await waiting in self.pushes {
                if running == Self.width {
                    await group.next()
                    running -= 1
                }
                running += 1
                group.addTask { await self.accept(waiting) }
            }
        }
    }

    private func accept(_ waiting: Waiting) async {
        for attempt in 1...Self.tries {
            do {
                guard let app = try await self.store.app(id: waiting.app) else { return }
                let request = try waiting.request.notification(bundleID: app.bundleID, now: self.time.now)
                let accepted = try await self.acceptor.accept(
                    request,
                    app: app.id,
                    idempotency: waiting.request.idempotency,
                    acceptance: AcceptanceRecord(receivedAt: waiting.arrived, origin: waiting.request.origin)
                )
                return self.metrics.count(accepted.acceptance == .accepted ? .accepted : .repeated)
            } catch let error as RequestError {
                self.metrics.count(.refused)
                return self.log.log(
                    .info,
                    "a message of a chat session cannot be pushed",
                    ["error": "\(error.message)"]
                )
            } catch {
                self.log.log(.error, "a message of a chat session cannot be stored", ["error": "\(error)"])
                if attempt == Self.tries { return self.metrics.count(.dropped) }
                try? await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }
}
