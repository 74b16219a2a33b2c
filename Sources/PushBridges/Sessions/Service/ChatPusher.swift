import Foundation
import Logging
import PushProvider
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Hands pushes of sessions to the provider's one way into the ledger.
final class ChatPusher: Sendable {
    /// The pushes that are accepted at a time.
    private static let width = 8
    /// The tries of a push while the store cannot write, and the time between them.
    private static let (tries, pause) = (5, Duration.seconds(1))

    /// A push of an app's session.
    private struct Waiting: Sendable {
        var app: Int64
        var request: ChatPushRequest
        var arrived: Timestamp
        var place: BudgetPermit
    }

    private let store: any ProviderStore
    private let acceptor: NotificationAcceptor
    private let metrics: ChatSessionMetrics
    private let time: any TimeSource
    private let log: LimitedLog
    private let budget: Budget
    private let waiting = Mutex(TurnQueue<Waiting>())
    /// An element for each push of ``waiting``.
    private let (turns, continuation) = AsyncStream.makeStream(of: Void.self)

    init(
        store: any ProviderStore,
        acceptor: NotificationAcceptor,
        budgets: Budgets,
        metrics: ChatSessionMetrics,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.acceptor, self.metrics, self.time) = (store, acceptor, metrics, time)
        (self.budget, self.log) = (budgets[.chatPushes], LimitedLog(logger))
    }

    func push(_ push: ChatPush, _ session: RunningSession) {
        let request = ChatPushRequest(
            push,
            session: session.key.id,
            user: session.user,
            bridge: "\(session.chatProtocol.rawValue):\(session.host)",
            showsText: session.showsText
        )
        // Beyond its share an app's pushes are counted and dropped.
        guard let place = try? self.budget.take(for: BudgetCaller(app: session.bundleID)) else {
            self.metrics.count(.dropped)
            let metadata: Logger.Metadata = ["app": "\(session.bundleID)"]
            return self.log.log(
                .error,
                "a message of a chat session is not pushed, as too many of its app wait",
                metadata
            )
        }
        let waiting = Waiting(app: session.app, request: request, arrived: self.time.now, place: place)
        self.waiting.withLock { $0.add(waiting, of: session.app) }
        self.continuation.yield()
    }

    /// Ends ``run()`` once all pushes are accepted.
    func end() { self.continuation.finish() }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await _ in self.turns {
                if running == Self.width {
                    await group.next()
                    running -= 1
                }
                guard let waiting = self.waiting.withLock({ $0.take() }) else { continue }
                running += 1
                group.addTask {
                    await self.accept(waiting)
                    waiting.place.end()
                    self.waiting.withLock { $0.end(of: waiting.app) }
                }
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
