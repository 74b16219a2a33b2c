package import Foundation
package import Logging
package import Metrics
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// The limits on requests to webhooks.
package struct WebhookLimits: Sendable {
    /// The maximum time for resolving the name of the host, and then until the status of the response. Default 10 s.
    package var deadline: Duration = .seconds(10)
    /// The maximum number of requests in one run to a webhook, after which other webhooks have their turn. Default 16.
    package var postsPerRun = 16
    /// The maximum time for which the delivery sleeps without a signal. Default 5 s.
    package var sleep: Duration = .seconds(5)
    /// The time for which events are collected after a signal, so that each request has more of them. Default 200 ms.
    package var gathering: Duration = .milliseconds(200)

    package init() {}
}

/// Sends events to webhooks, in POST requests with a batch of events each.
///
/// Each webhook receives the events after its cursor in order, one request at a time. The cursor moves when a request
/// is accepted. So every event is delivered at least once, and a crash may repeat the last request to each webhook.
package final class WebhookDelivery: Service {
    /// The reason why one run, a series of requests to one webhook, ended.
    package enum RunEnd: Hashable, Sendable {
        /// The end of a run because the webhook has received all events, or cannot receive any now.
        case idle
        /// The end of a run that has reached its maximum number of requests.
        case more
        /// The end of a run in which a request was not accepted.
        case failed
    }

    private let store: any WebhookStore
    private let reader: WebhookReader
    private let bundleID: @Sendable (Int64) async throws -> Topic?
    private let wake: WakeSignal
    let addresses: AddressPolicy
    let limits: WebhookLimits
    private let policy: WebhookPolicy
    let resolver: any NameResolver
    let time: any TimeSource
    private let logger: Logger
    private let metrics: WebhookMetrics
    /// The last block of each webhook's failed request. The request is repeated unchanged, with the same id.
    private let failedThrough = Mutex<[UUID: Int64]>([:])
    private let runs = Mutex<[UUID: Task<RunEnd, Never>]>([:])
    /// The webhooks that cannot be read and were already logged as such.
    private let unreadable = Mutex<Set<String>>([])
    /// The budget of runs, and one for receivers whose last request failed, so that slow ones do not delay the others.
    private let places, retries: Budget

    /// Creates the service.
    /// - Parameters:
    ///   - bundleID: Returns the bundle id of an app, or `nil` if there is no such app.
    ///   - wake: The signal that is sent when blocks of events were written, or a webhook was added or changed.
    ///   - places: The budget of runs to receivers whose last request did not fail.
    ///   - retries: The budget of runs to receivers whose last request failed.
    package init(
        store: any WebhookStore,
        bundleID: @escaping @Sendable (Int64) async throws -> Topic?,
        wake: WakeSignal,
        addresses: AddressPolicy = AddressPolicy(),
        limits: WebhookLimits = WebhookLimits(),
        policy: WebhookPolicy = WebhookPolicy(),
        places: Budget,
        retries: Budget,
        resolver: any NameResolver,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance,
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.reader = WebhookReader(store: store)
        self.metrics = WebhookMetrics(factory: metrics)
        (self.bundleID, self.wake, self.addresses, self.limits) = (bundleID, wake, addresses, limits)
        (self.places, self.retries) = (places, retries)
        (self.policy, self.resolver, self.time, self.logger) = (policy, resolver, time, logger)
    }

    private enum Event {
        case woken(Bool)
        case ended(Due, RunEnd)
    }

    private struct Due {
        let id: UUID
        let app: Topic?
        let isFailing: Bool
    }

    /// The webhooks that have a run in progress or wait for their turn. Each has at most one run at a time.
    private struct Runs {
        private var begun: Set<UUID> = []
        /// The webhooks that became due during their run, which is followed by another run.
        private var again: [UUID: Due] = [:]

        /// Returns whether a run to the webhook may begin now. If one is in progress, another run follows it.
        mutating func begin(_ due: Due) -> Bool {
            guard !self.begun.insert(due.id).inserted else { return true }
            self.again[due.id] = due
            return false
        }

        /// Records the end of a run.
        /// - Returns: The webhook's next run, or `nil` if there is none.
        mutating func end(_ due: Due, _ end: RunEnd) -> Due? {
            self.begun.remove(due.id)
            let next = self.again.removeValue(forKey: due.id)
            return end == .more ? Due(id: due.id, app: due.app, isFailing: false) : next
        }
    }

    /// Sends events until graceful shutdown, which lets the requests in flight finish.
    package func run() async throws { await self.wake.untilShutdown { await self.work() } }

    private func work() async {
        var runs = Runs()
        var isAwake = true
        await withTaskGroup(of: Event.self) { group in
            func start(_ due: Due, in group: inout TaskGroup<Event>) {
                guard runs.begin(due) else { return }
                group.addTask { .ended(due, await self.takeTurn(due)) }
            }
            repeat {
                let (due, pause) = await self.due()
                for one in due { start(one, in: &group) }
                group.addTask { .woken(await self.wait(atMost: pause)) }
                var isAsleep = true
                while isAsleep {
                    switch await group.next() {
                    case .woken(let continues): (isAwake, isAsleep) = (continues, false)
                    case nil: (isAwake, isAsleep) = (false, false)
                    case .ended(let due, let end):
                        if let next = runs.end(due, end) { start(next, in: &group) }
                        // The loop has to look again, because the next attempt has a time now.
                        if end == .failed { self.wake.signal() }
                    }
                }
            } while isAwake
            guard !Task.isCancelled else { return group.cancelAll() }
            // The requests in flight finish. Webhooks that wait for their turn are left to the next process.
            self.places.end()
            self.retries.end()
        }
    }

    private func takeTurn(_ due: Due) async -> RunEnd {
        let budget = due.isFailing ? self.retries : self.places
        let caller = BudgetCaller(app: due.app, .name(due.id.uuidString))
        guard let place = try? await budget.wait(for: caller) else { return .idle }
        defer { place.end() }
        return await self.postEvents(to: due.id)
    }

    /// Waits for a signal, and then for further events. The result is `false` once the signal has been ended.
    private func wait(atMost limit: Duration) async -> Bool {
        guard await self.wake.wait(atMost: limit) else { return false }
        try? await Task.sleep(for: self.limits.gathering)
        return true
    }

    /// Returns the webhooks to which requests may be sent now, and the maximum time to sleep without a signal.
    private func due() async -> (due: [Due], pause: Duration) {
        let webhooks: [WebhookRecord]
        var names: [Int64: Topic] = [:]
        do {
            let list = try await self.store.readWebhooks(app: nil)
            self.report(unreadable: Set(list.unreadable))
            webhooks = list.webhooks
            for app in Set(webhooks.map(\.app)) { names[app] = try await self.bundleID(app) }
        } catch {
            guard !Task.isCancelled else { return ([], self.limits.sleep) }
            self.logger.error("webhooks cannot be read, trying again", metadata: ["error": "\(error)"])
            return ([], self.limits.sleep)
        }
        let now = self.time.steady
        var (due, pause): ([Due], Duration) = ([], self.limits.sleep)
        for webhook in webhooks where webhook.isActive {
            if WebhookStateMachine(webhook).isDue(at: now) {
                due.append(Due(id: webhook.id, app: names[webhook.app], isFailing: webhook.failures > 0))
            } else if let next = webhook.nextTryAt {
                pause = min(pause, max(.milliseconds(1), next.since(now)))
            }
        }
        let known = Set(webhooks.map(\.id))
        self.failedThrough.withLock { $0 = $0.filter { known.contains($0.key) } }
        return (due, pause)
    }

    /// Logs webhooks that cannot be read, each once until it can be read again.
    private func report(unreadable ids: Set<String>) {
        let new = self.unreadable.withLock { known in
            defer { known = ids }
            return ids.subtracting(known)
        }
        for id in new.sorted() {
            self.logger.error("a webhook cannot be read and receives no events", metadata: ["webhook": "\(id)"])
        }
    }

    /// Sends the events that a webhook has not received yet, until a request fails or the limit for one run is reached.
    package func postEvents(to id: UUID) async -> RunEnd {
        // The run is registered before it reads the webhook, so that a change can interrupt it.
        let run = self.runs.withLock { runs in
            let run = Task { await self.serve(id) }
            runs[id] = run
            return run
        }
        defer { self.runs.withLock { _ = $0.removeValue(forKey: id) } }
        return await withTaskCancellationHandler {
            await run.value
        } onCancel: {
            run.cancel()
        }
    }

    /// Cancels and repeats the request in flight to a webhook that was changed, as it has the old URL and signature.
    package func interrupt(_ id: UUID) async {
        guard let run = self.runs.withLock({ $0[id] }) else { return }
        run.cancel()
        _ = await run.value
        self.wake.signal()
    }

    private func serve(_ id: UUID) async -> RunEnd {
        var receiver: WebhookReceiver?
        let end: RunEnd
        do {
            end = try await self.posts(of: id, &receiver)
        } catch {
            if !Task.isCancelled {
                self.logger.error("events cannot be posted", metadata: ["webhook": "\(id)", "error": "\(error)"])
            }
            end = .idle
        }
        await receiver?.close()
        return end
    }

    private func posts(of id: UUID, _ receiver: inout WebhookReceiver?) async throws -> RunEnd {
        var url: String?
        for _ in 0..<max(1, self.limits.postsPerRun) {
            guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return .idle }
            guard let webhook = try await self.store.webhook(id),
                WebhookStateMachine(webhook).isDue(at: self.time.steady),
                url ?? webhook.url == webhook.url,
                let batch = try await self.reader.next(for: webhook, through: self.failedEnd(webhook)),
                let app = try await self.bundleID(webhook.app)
            else { return .idle }
            url = webhook.url
            let postedAt = self.time.now
            let failure = await self.post(batch, webhook, app: app, &receiver)
            // The receiver may have accepted a request that was cancelled.
            self.failedThrough.withLock { $0[webhook.id] = batch.last }
            guard !Task.isCancelled else { return .idle }
            try await self.settle(failure, batch, webhook, postedAt: postedAt)
            guard failure == nil else { return .failed }
        }
        return .more
    }

    /// Sends a batch. Returns the failure, or `nil` if the batch was accepted.
    private func post(
        _ batch: WebhookBatch,
        _ webhook: WebhookRecord,
        app: Topic,
        _ receiver: inout WebhookReceiver?
    ) async -> WebhookFailure? {
        guard !batch.isEmpty else { return nil }
        do throws(WebhookFailure) {
            if receiver == nil {
                let (policy, deadline) = (self.addresses, self.limits.deadline)
                receiver = try await WebhookReceiver(webhook, policy, self.resolver, deadline: deadline)
            }
            let body = batch.body(webhook: webhook.id, app: app.name)
            try await receiver?.post(body, secret: webhook.secret, now: self.time.now)
            self.metrics.countAccepted()
            return nil
        } catch {
            self.metrics.countFailed()
            return error
        }
    }

    /// Writes the outcome of a request. Changes that API requests made meanwhile, such as a replay, are kept.
    private func settle(
        _ failure: WebhookFailure?,
        _ batch: WebhookBatch,
        _ webhook: WebhookRecord,
        postedAt: Timestamp
    ) async throws {
        var state = WebhookStateMachine(webhook, policy: self.policy)
        if let failure {
            var generator = SystemRandomNumberGenerator()
            state.failed(failure, at: self.time.reading, using: &generator)
        } else {
            state.accepted(through: batch.last, at: self.time.now)
        }
        let post = AcknowledgedPost(
            first: batch.first,
            last: batch.last,
            postedAt: postedAt,
            acknowledgedAt: self.time.now
        )
        let outcome = WebhookOutcome(
            before: webhook,
            after: state.record,
            isAccepted: failure == nil,
            post: failure == nil && !batch.isEmpty ? post : nil
        )
        guard try await self.store.settleWebhook(webhook.id, outcome) else { return }
        self.failedThrough.withLock { $0[webhook.id] = failure == nil ? nil : batch.last }
        if let failure { self.report(failure, state.record) }
    }

    private func report(_ failure: WebhookFailure, _ webhook: WebhookRecord) {
        guard webhook.isActive else {
            self.metrics.countDisabled()
            let metadata: Logger.Metadata = ["webhook": "\(webhook.id)", "reason": "\(webhook.lastError ?? "")"]
            return self.logger.warning("webhook disabled", metadata: metadata)
        }
        self.logger.debug("post not accepted", metadata: ["webhook": "\(webhook.id)", "reason": "\(failure)"])
    }

    /// Returns the last block of a failed request to repeat, or `nil` if there is none, or a replay has skipped it.
    private func failedEnd(_ webhook: WebhookRecord) -> Int64? {
        self.failedThrough.withLock { $0[webhook.id] }.flatMap { $0 > webhook.cursor ? $0 : nil }
    }
}

/// The result of a test request to a webhook.
package struct WebhookTestResult: Hashable, Sendable {
    /// The id of the request and of its only event.
    package var id: String
    /// The HTTP status of the receiver, or `nil` without a response.
    package var status: Int?
    /// The failure, as ``WebhookRecord/lastError`` would show it, or `nil` if the receiver accepted the request.
    package var error: String?
    /// The time from the start of the name resolution to the response.
    package var duration: Duration
}

extension WebhookDelivery {
    /// Sends one event of type `test` to a webhook immediately, even if the webhook is disabled. The request is signed
    /// and checked like any other. The webhook's cursor and failures do not change.
    package func test(_ webhook: WebhookRecord, app: Topic) async -> WebhookTestResult {
        let start = ContinuousClock.now
        let id = "test.\(UUID().uuidString.lowercased())"
        var result = WebhookTestResult(id: id, duration: .zero)
        do throws(WebhookFailure) {
            result.status = try await self.post(Self.testBody(id, app: app, at: self.time.now), to: webhook)
        } catch {
            if case .status(let status, _) = error { result.status = status }
            result.error = error.description
        }
        result.duration = ContinuousClock.now - start
        return result
    }

    /// Sends a body over a separate connection, and returns the status of the response.
    private func post(_ body: Data, to webhook: WebhookRecord) async throws(WebhookFailure) -> Int {
        let deadline = self.limits.deadline
        let receiver = try await WebhookReceiver(webhook, self.addresses, self.resolver, deadline: deadline)
        let result: Result<Int, WebhookFailure>
        do throws(WebhookFailure) {
            result = .success(try await receiver.post(body, secret: webhook.secret, now: self.time.now))
        } catch {
            result = .failure(error)
        }
        await receiver.close()
        return try result.get()
    }

    private static func testBody(_ id: String, app: Topic, at now: Timestamp) -> Data {
        var json = JSONWriter(capacity: 512)
        json.raw(#"{"id":"#)
        json.string(id)
        json.raw(#","app":"#)
        json.string(app.name)
        json.raw(#","events":[{"id":"#)
        json.string(id)
        json.raw(#","type":"test","at":"#)
        json.integer(now.milliseconds)
        json.raw("}]}")
        return Data(json.bytes)
    }
}

/// The metrics of webhook delivery.
///
/// `martlet_webhook_posts` counts requests by `outcome`, and `martlet_webhook_disabled` counts webhooks that were
/// disabled.
private struct WebhookMetrics: Sendable {
    private let accepted: Counter
    private let failed: Counter
    private let disabled: Counter

    init(factory: any MetricsFactory) {
        func posts(_ outcome: String) -> Counter {
            Counter(label: "martlet_webhook_posts", dimensions: [("outcome", outcome)], factory: factory)
        }
        (self.accepted, self.failed) = (posts("taken"), posts("failed"))
        self.disabled = Counter(label: "martlet_webhook_disabled", dimensions: [], factory: factory)
    }

    func countAccepted() { self.accepted.increment() }
    func countFailed() { self.failed.increment() }
    func countDisabled() { self.disabled.increment() }
}
