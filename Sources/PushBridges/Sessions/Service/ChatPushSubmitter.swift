import Logging
import Metrics
import NIOCore
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Submits the pushes of chat sessions to the ledger.
final class ChatPushSubmitter: Sendable {
    /// The maximum number of pushes that are submitted at the same time. Further ones wait in the queue.
    private static let width = 8
    /// The maximum number of attempts to submit a push while the store cannot write, and the delay between them. After
    /// the last attempt, the push is dropped.
    private static let (tries, pause) = (5, Duration.seconds(1))

    private struct Waiting: Sendable {
        var app: Int64
        var bundleID: Topic
        var request: ChatPushRequest
        var arrived: Timestamp
        var place: BudgetPermit
    }

    private let store: any AppStore
    private let acceptor: NotificationAcceptor
    private let metrics: ChatSessionMetrics
    private let time: any TimeSource
    private let log: RateLimitedLog
    private let budget: Budget
    private struct State {
        var queue = TurnQueue<Waiting>()
        /// The number of pushes that wait for a permit to enter the queue.
        var unplaced = 0
        var isEnding = false
    }

    private let state = Mutex(State())
    /// A stream with one element for each push that enters the queue.
    private let (turns, continuation) = AsyncStream.makeStream(of: Void.self)

    init(
        store: any AppStore,
        acceptor: NotificationAcceptor,
        budgets: BudgetRegistry,
        metrics: ChatSessionMetrics,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.acceptor, self.metrics, self.time) = (store, acceptor, metrics, time)
        (self.budget, self.log) = (budgets[.chatPushes], RateLimitedLog(logger, budgets[.logLines]))
    }

    /// Queues a push of a session.
    ///
    /// A push beyond the share of its app waits for a permit, and its session stops reading until then. The chat server
    /// keeps the later messages.
    /// - Parameter placed: Called once the push, if it had to wait, has entered the queue or was dropped.
    /// - Returns: `false` if the push waits for a permit.
    func push(_ push: ChatPush, _ session: RunningSession, placed: @escaping @Sendable () -> Void) -> Bool {
        let request = ChatPushRequest(
            push,
            session: session.key.id,
            user: session.user,
            bridge: "\(session.chatProtocol.rawValue):\(session.host)",
            showsText: session.showsText
        )
        let caller = BudgetCaller(app: session.bundleID)
        let arrived = self.time.now
        @Sendable func add(_ place: BudgetPermit) {
            let waiting = Waiting(
                app: session.app,
                bundleID: session.bundleID,
                request: request,
                arrived: arrived,
                place: place
            )
            self.state.withLock { $0.queue.add(waiting, of: session.app) }
            self.continuation.yield()
        }
        if let place = try? self.budget.take(for: caller) {
            add(place)
            return true
        }
        self.noteUnplaced(1)
        Task {
            if let place = try? await self.budget.wait(for: caller) { add(place) } else { self.drop(session) }
            self.noteUnplaced(-1)
            placed()
        }
        return false
    }

    private func drop(_ session: RunningSession) {
        self.metrics.count(.dropped)
        let message = "a message of a chat session is not pushed, as too many of its app wait"
        self.log.log(.error, message, ["app": "\(session.bundleID)"], app: session.bundleID)
    }

    /// Lets ``run()`` return once all pushes are submitted, including those that wait for a permit.
    func end() { self.noteUnplaced(0, isEnding: true) }

    private func noteUnplaced(_ change: Int, isEnding: Bool = false) {
        let isLast = self.state.withLock { state in
            state.unplaced += change
            state.isEnding = state.isEnding || isEnding
            return state.isEnding && state.unplaced == 0
        }
        if isLast { self.continuation.finish() }
    }

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            for await _ in self.turns {
                if running == Self.width {
                    await group.next()
                    running -= 1
                }
                guard let waiting = self.state.withLock({ $0.queue.take() }) else { continue }
                running += 1
                group.addTask {
                    await self.accept(waiting)
                    waiting.place.end()
                    self.state.withLock { $0.queue.end(of: waiting.app) }
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
                    session: waiting.request.session,
                    acceptance: AcceptanceRecord(receivedAt: waiting.arrived, origin: waiting.request.origin)
                )
                switch accepted.acceptance {
                case .accepted: return self.metrics.count(.accepted)
                case .sessionRemoved: return self.metrics.count(.refused)
                default: return self.metrics.count(.repeated)
                }
            } catch let error as RequestError {
                self.metrics.count(.refused)
                return self.log.log(
                    .info,
                    "a message of a chat session cannot be pushed",
                    ["error": "\(error.message)"],
                    app: waiting.bundleID
                )
            } catch {
                let fields: Logger.Metadata = ["error": "\(error)"]
                self.log.log(.error, "a message of a chat session cannot be stored", fields, app: waiting.bundleID)
                if attempt == Self.tries { return self.metrics.count(.dropped) }
                try? await Task.sleep(for: Self.pause, clock: .continuous)
            }
        }
    }
}

/// The metrics of sessions at chat servers.
///
/// `martlet_chat_pushes` counts pushes by `result`, `martlet_chat_sign_ins` counts sign-ins by `protocol` and `result`.
struct ChatSessionMetrics: Sendable {
    enum PushResult: String, CaseIterable {
        case accepted
        /// The result of a push that was dropped because its message had already been pushed.
        case repeated
        /// The result of a push that the provider did not accept, for example because the user has no device or the
        /// session was removed.
        case refused
        /// The result of a push that was dropped because too many waited or the store could not write.
        case dropped
    }

    private let pushes: [PushResult: Counter]
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) {
        self.factory = factory
        self.pushes = Dictionary(
            uniqueKeysWithValues: PushResult.allCases.map { result in
                let dimensions = [("result", result.rawValue)]
                return (result, Counter(label: "martlet_chat_pushes", dimensions: dimensions, factory: factory))
            }
        )
    }

    func count(_ result: PushResult) { self.pushes[result]?.increment() }

    func countSignIn(_ chatProtocol: ChatProtocol, _ status: ChatSessionStatus) {
        let dimensions = [("protocol", chatProtocol.rawValue), ("result", status.rawValue)]
        Counter(label: "martlet_chat_sign_ins", dimensions: dimensions, factory: self.factory).increment()
    }
}

/// A queue of elements that belong to apps. The elements of one app keep their order.
///
/// The next element is taken from the app with the fewest elements in progress, so that an app with many or slow
/// elements delays other apps little.
struct TurnQueue<Element: Sendable>: Sendable {
    private struct Waiting {
        var number: Int
        var element: Element
    }

    private struct App {
        var running = 0
        var waiting = CircularBuffer<Waiting>()

        var isUnused: Bool { self.running == 0 && self.waiting.isEmpty }
    }

    private var apps: [Int64: App] = [:]
    private var last = 0

    mutating func add(_ element: Element, of app: Int64) {
        self.last += 1
        self.apps[app, default: App()].waiting.append(Waiting(number: self.last, element: element))
    }

    /// Removes and returns the next element, or returns `nil` if the queue is empty. ``end(of:)`` must follow.
    mutating func take() -> Element? {
        let waiting = self.apps.compactMap { app, state in
            state.waiting.first.map { (app: app, order: (state.running, $0.number)) }
        }
        guard let app = waiting.min(by: { $0.order < $1.order })?.app else { return nil }
        self.apps[app]?.running += 1
        return self.apps[app]?.waiting.popFirst()?.element
    }

    mutating func end(of app: Int64) {
        self.apps[app]?.running -= 1
        if self.apps[app]?.isUnused ?? false { self.apps[app] = nil }
    }
}
