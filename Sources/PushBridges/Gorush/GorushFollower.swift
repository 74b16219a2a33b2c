import Foundation
import Logging
import NIOHTTP1
import ProviderAPI
import PushProvider
import PushStore
import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// Follows the notifications of gorush's doors until they end: counts their outcomes, and posts each failure to the hook.
///
/// What waits is in memory only, and each failure is posted once, as gorush does it: a restart forgets them. Webhooks tell
/// every outcome at least once.
struct GorushFollower: Service {
    /// The number of tokens for which a notification itself counts.
    private static let size = 50
    /// The longest time for which one is followed.
    private static let patience: Duration = .seconds(600)
    /// The posts of one notification that may fail one after the other; no more are made then.
    private static let maximumFailures = 3
    /// The longest response to a post, in bytes. It is not looked at.
    private static let maximumResponse = 64 * 1024

    /// A notification in the ledger.
    struct Followed: Sendable {
        let push: PushSubmission.Accepted
        let bridge: String
        /// The URL of the hook; `nil` for none.
        let hook: String?
        let plan: GorushPlan
    }

    /// The work of the service.
    private enum Work: Sendable {
        case follow(Followed)
        case post([GorushLogEntry], hook: String, app: Int64)

        /// The number of tokens and failures that it keeps in memory. Each takes about 200 bytes.
        var size: Int {
            switch self {
            case .follow(let followed): GorushFollower.size + followed.push.tokens.count
            case .post(let entries, _, _): GorushFollower.size + entries.count
            }
        }
    }

    private let budget: Budget
    private let submission: PushSubmission
    private let statistics: GorushStatistics
    private let client: GuardedClient
    private let logger: Logger
    private let log: LimitedLog
    private let (waiting, queue): (AsyncStream<(Work, BudgetPermit)>, AsyncStream<(Work, BudgetPermit)>.Continuation)

    init(
        _ submission: PushSubmission,
        _ statistics: GorushStatistics,
        client: GuardedClient,
        budgets: Budgets,
        logger: Logger
    ) {
        (self.submission, self.statistics, self.client, self.logger) = (submission, statistics, client, logger)
        (self.budget, self.log) = (budgets[.followedOutcomes], LimitedLog(logger, budgets[.logLines]))
        (self.waiting, self.queue) = AsyncStream.makeStream()
    }

    /// Begins to follow a notification.
    func follow(_ followed: Followed, of app: Topic) { self.add(.follow(followed), bridge: followed.bridge, app) }

    /// Counts failures that were known before anything was sent, and has them posted.
    func report(_ failures: [GorushLogEntry], bridge: String, hook: String?, of app: AppRecord) {
        guard !failures.isEmpty else { return }
        self.statistics.count(bridge) { $0.failed += failures.count }
        if let hook { self.add(.post(failures, hook: hook, app: app.id), bridge: bridge, app.bundleID) }
    }

    /// Its budget bounds what waits or is followed. No app has all of it.
    private func add(_ work: Work, bridge: String, _ app: Topic) {
        guard let place = try? self.budget.take(work.size, for: BudgetCaller(app: app)) else {
            let message = "outcomes are not followed: too many wait"
            return self.log.log(.warning, message, ["bridge": "\(bridge)"], app: app)
        }
        self.queue.yield((work, place))
    }

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await (work, place) in self.waiting.cancelOnGracefulShutdown() {
                group.addTask {
                    defer { place.end() }
                    switch work {
                    case .follow(let followed): await self.observe(followed)
                    case .post(let entries, let hook, let app): await self.post(entries, to: hook, app: app)
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func observe(_ followed: Followed) async {
        let id = followed.push.notification.id
        let parts = self.submission.parts
        do {
            try await parts.outcomes.observe(id, atMost: Self.patience) { signals in
                var reported: Set<DeviceToken> = []
                var iterator = signals.makeAsyncIterator()
                repeat {
                    guard let current = try await parts.store.notification(id) else { return }
                    let verdicts = try await self.submission.verdicts(of: followed.push, now: current)
                    await self.report(verdicts, of: followed, &reported)
                    if reported.count >= followed.push.tokens.count || current.state == .done { return }
                } while await iterator.next() != nil
            }
        } catch {
            self.logger.warning(
                "outcomes could not be followed",
                metadata: ["bridge": "\(followed.bridge)", "notification": "\(id)", "error": "\(error)"]
            )
        }
    }

    /// Counts the verdicts that are new, and posts the failures among them.
    private func report(
        _ verdicts: [DeviceToken: TokenVerdict],
        of followed: Followed,
        _ reported: inout Set<DeviceToken>
    ) async {
        var (succeeded, failures) = (0, [GorushLogEntry]())
        for token in followed.push.tokens {
            guard let verdict = verdicts[token], verdict.isFinal, reported.insert(token).inserted else { continue }
            if let text = GorushFailure.text(verdict) {
                failures.append(followed.plan.entry(token, text))
            } else {
                succeeded += 1
            }
        }
        self.statistics.count(followed.bridge) {
            ($0.succeeded, $0.failed) = ($0.succeeded + succeeded, $0.failed + failures.count)
        }
        guard let hook = followed.hook else { return }
        await self.post(failures, to: hook, app: followed.push.notification.app)
    }

    /// Posts entries, one request each.
    private func post(_ entries: [GorushLogEntry], to hook: String, app: Int64) async {
        var failed = 0
        for entry in entries {
            guard !Task.isCancelled, let body = try? entry.json.text else { return }
            let why: String
            do throws(PinnedClientFailure) {
                let response = try await self.client.request(
                    .POST,
                    hook,
                    headers: ["content-type": "application/json", "user-agent": "martlet"],
                    body: body,
                    app: app,
                    maximum: Self.maximumResponse
                )
                if response.status == 200 {
                    failed = 0
                    continue
                }
                why = "status \(response.status)"
            } catch {
                why = error.text
            }
            failed += 1
            self.logger.warning("post to a feedback hook failed", metadata: ["error": "\(why)"])
            guard failed < Self.maximumFailures else { return }
        }
    }
}

extension TokenVerdict {
    /// `true` if nothing follows.
    fileprivate var isFinal: Bool { if case .pending = self { false } else { true } }
}
