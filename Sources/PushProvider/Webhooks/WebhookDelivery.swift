package import Foundation
package import Logging
package import PushStore
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Posts events to webhooks: for each, what comes after its cursor, in order, one post at a time; the cursor moves when a
/// post was taken. So every event is told at least once, and after a crash the last post of each webhook again.
package final class WebhookDelivery: Service {
    /// How a turn of one webhook ended.
    package enum TurnEnd: Hashable, Sendable {
        /// It has been told everything, or cannot be told anything now.
        case idle
        /// Its turn was used up.
        case more
        /// A post was not taken.
        case failed
    }

    private let store: any WebhookStore
    private let reader: WebhookReader
    private let bundleID: @Sendable (Int64) async throws -> Topic?
    private let wake: WakeSignal
    private let addresses: AddressPolicy
    private let limits: WebhookLimits
    private let policy: WebhookPolicy
    private let resolver: any NameResolver
    private let time: any TimeSource
    private let logger: Logger
    private let metrics = WebhookMetrics()
    /// The last block of each webhook's post that failed: it is repeated as it was, under the same id.
    private let unfinished = Mutex<[UUID: Int64]>([:])
    /// The turns under way.
    private let turns = Mutex<[UUID: Task<TurnEnd, Never>]>([:])
    /// Those that cannot be read, which has been said.
    private let unreadable = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - bundleID: the name of an app; `nil` if it is gone.
    ///   - wake: signalled when blocks of events were written, or a webhook was added or changed.
    package init(
        store: any WebhookStore,
        bundleID: @escaping @Sendable (Int64) async throws -> Topic?,
        wake: WakeSignal,
        addresses: AddressPolicy = AddressPolicy(),
        limits: WebhookLimits = WebhookLimits(),
        policy: WebhookPolicy = WebhookPolicy(),
        resolver: any NameResolver = SystemResolver(),
        time: any TimeSource,
        logger: Logger
    ) {
        self.store = store
        self.reader = WebhookReader(store: store)
        self.bundleID = bundleID
        self.wake = wake
        self.addresses = addresses
        self.limits = limits
        self.policy = policy
        self.resolver = resolver
        self.time = time
        self.logger = logger
    }

    private enum Happening {
        case woken(Bool)
        case ended(UUID, TurnEnd)
    }

    /// Works until graceful shutdown, which lets the posts in flight finish.
    package func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await self.work()
        } onCancelOrGracefulShutdown: {
            self.wake.end()
        }
    }

    private func work() async {
        var turns = WebhookQueue(limits: self.limits)
        var isAwake = true
        await withTaskGroup(of: Happening.self) { group in
            var pause = await self.offerDue(&turns)
            group.addTask { [pause] in .woken(await self.wait(atMost: pause)) }
            repeat {
                while isAwake, let id = turns.next() {
                    group.addTask { .ended(id, await self.turn(id)) }
                }
                switch await group.next() {
                case .woken(true):
                    pause = await self.offerDue(&turns)
                    group.addTask { [pause] in .woken(await self.wait(atMost: pause)) }
                case .woken(false), nil:
                    isAwake = false
                case .ended(let id, let end):
                    turns.ended(id)
                    if end == .more { turns.offer(id, isFailing: false) }
                    // The time of its next try is known now.
                    if end == .failed { self.wake.signal() }
                }
            } while isAwake
        }
    }

    /// - Returns: `false` once ended.
    private func wait(atMost limit: Duration) async -> Bool {
        guard await self.wake.wait(atMost: limit) else { return false }
        try? await Task.sleep(for: self.limits.gathering)
        return true
    }

    /// Offers a turn to every webhook that may post now.
    /// - Returns: how long nothing needs to be done without a signal.
    private func offerDue(_ turns: inout WebhookQueue) async -> Duration {
        let webhooks: [WebhookRecord]
        do {
            let list = try await self.store.readWebhooks(app: nil)
            self.report(unreadable: Set(list.unreadable))
            webhooks = list.webhooks
        } catch {
            guard !Task.isCancelled else { return self.limits.sleep }
            self.logger.error("webhooks cannot be read, trying again", metadata: ["error": "\(error)"])
            return self.limits.sleep
        }
        let now = self.time.steady
        var pause = self.limits.sleep
        for webhook in webhooks where webhook.isActive {
            if WebhookStateMachine(webhook).isDue(at: now) {
                turns.offer(webhook.id, isFailing: webhook.failures > 0)
            } else if let next = webhook.nextTryAt {
                pause = min(pause, max(.milliseconds(1), next.since(now)))
            }
        }
        self.forgetUnfinished(except: Set(webhooks.map(\.id)))
        return pause
    }

    /// Each once, and again when it was readable meanwhile.
    private func report(unreadable ids: Set<String>) {
        let new = self.unreadable.withLock { known in
            defer { known = ids }
            return ids.subtracting(known)
        }
        for id in new.sorted() {
            self.logger.error("a webhook cannot be read and is told nothing", metadata: ["webhook": "\(id)"])
        }
    }

    /// Posts what a webhook has not been told yet, up to a turn's worth, until a post fails.
    package func turn(_ id: UUID) async -> TurnEnd {
        // It reads the webhook after this, or it can be interrupted.
        let turn = self.turns.withLock { turns in
            let turn = Task { await self.serve(id) }
            turns[id] = turn
            return turn
        }
        defer { self.turns.withLock { _ = $0.removeValue(forKey: id) } }
        return await withTaskCancellationHandler {
            await turn.value
        } onCancel: {
            turn.cancel()
        }
    }

    /// Ends the post in flight to a webhook that was changed, which was signed and addressed as it was before. What it told is
    /// told again.
    package func interrupt(_ id: UUID) async {
        guard let turn = self.turns.withLock({ $0[id] }) else { return }
        turn.cancel()
        _ = await turn.value
        self.wake.signal()
    }

    private func serve(_ id: UUID) async -> TurnEnd {
        var receiver: WebhookReceiver?
        let end: TurnEnd
        do {
            end = try await self.posts(of: id, &receiver)
        } catch {
            if !Task.isCancelled {
                self.logger.error("webhook cannot be served", metadata: ["webhook": "\(id)", "error": "\(error)"])
            }
            end = .idle
        }
        await receiver?.close()
        return end
    }

    private func posts(of id: UUID, _ receiver: inout WebhookReceiver?) async throws -> TurnEnd {
        var url: String?
        for _ in 0..<max(1, self.limits.turn) {
            guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return .idle }
            guard let webhook = try await self.store.webhook(id),
                WebhookStateMachine(webhook).isDue(at: self.time.steady),
                url ?? webhook.url == webhook.url,
                let batch = try await self.reader.next(for: webhook, through: self.unfinishedEnd(webhook)),
                let app = try await self.bundleID(webhook.app)
            else { return .idle }
            url = webhook.url
            let failure = await self.post(batch, webhook, app: app, &receiver)
            // A post that was cut off by us says nothing about the receiver, which may have taken it.
            self.unfinished.withLock { $0[webhook.id] = batch.last }
            guard !Task.isCancelled else { return .idle }
            try await self.settle(failure, batch, webhook)
            guard failure == nil else { return .failed }
        }
        return .more
    }

    /// - Returns: why the post was not taken; `nil` if it was.
    private func post(
        _ batch: WebhookBatch,
        _ webhook: WebhookRecord,
        app: Topic,
        _ receiver: inout WebhookReceiver?
    ) async -> WebhookFailure? {
        guard !batch.isEmpty else { return nil }
        do throws(WebhookFailure) {
            let open: WebhookReceiver
            if let receiver {
                open = receiver
            } else {
                open = try await WebhookReceiver(
                    webhook,
                    policy: self.addresses,
                    resolver: self.resolver,
                    attempt: webhook.failures,
                    deadline: self.limits.deadline
                )
                receiver = open
            }
            let body = batch.body(webhook: webhook.id, app: app.name)
            try await open.post(body, secret: webhook.secret, now: self.time.now)
            self.metrics.countTaken()
            return nil
        } catch {
            self.metrics.countFailed()
            return error
        }
    }

    /// Writes the outcome of a post. What a person changed meanwhile, a replay too, stays as it is.
    private func settle(
        _ failure: WebhookFailure?,
        _ batch: WebhookBatch,
        _ webhook: WebhookRecord
    ) async throws {
        var machine = WebhookStateMachine(webhook, policy: self.policy)
        if let failure {
            var generator = SystemRandomNumberGenerator()
            machine.failed(failure, at: self.time.reading, using: &generator)
        } else {
            machine.taken(through: batch.last, at: self.time.now)
        }
        let outcome = WebhookOutcome(before: webhook, after: machine.record, isTaken: failure == nil)
        guard try await self.store.settleWebhook(webhook.id, outcome) else { return }
        self.unfinished.withLock { $0[webhook.id] = failure == nil ? nil : batch.last }
        if let failure { self.report(failure, machine.record) }
    }

    private func report(_ failure: WebhookFailure, _ webhook: WebhookRecord) {
        guard webhook.isActive else {
            self.metrics.countDisabled()
            let why = webhook.lastError ?? ""
            return self.logger.warning("webhook disabled", metadata: ["webhook": "\(webhook.id)", "why": "\(why)"])
        }
        self.logger.debug("post not taken", metadata: ["webhook": "\(webhook.id)", "why": "\(failure)"])
    }

    /// Where the post ends that failed last; `nil` if a replay has put the webhook behind it or there is none.
    private func unfinishedEnd(_ webhook: WebhookRecord) -> Int64? {
        self.unfinished.withLock { $0[webhook.id] }.flatMap { $0 > webhook.cursor ? $0 : nil }
    }

    private func forgetUnfinished(except known: Set<UUID>) {
        self.unfinished.withLock { $0 = $0.filter { known.contains($0.key) } }
    }
}
