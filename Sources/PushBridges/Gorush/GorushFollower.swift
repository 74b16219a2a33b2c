import Foundation
import Logging
import NIOHTTP1
import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes
import ServiceLifecycle

/// Follows the notifications of gorush bridges until all outcomes are final. It counts the outcomes and reports each
/// failure to the feedback hook of the bridge, if it has one.
///
/// As in gorush, waiting work is kept only in memory, and each failure is reported at most once. A restart loses
/// waiting work. Webhooks, by contrast, report each outcome at least once.
struct GorushFollower: Service {
    /// The fixed part of the amount that each work item is charged to ``budget``. Each of its tokens or failures adds
    /// one.
    private static let size = 50
    /// The maximum time for which a notification is followed. Later outcomes are neither counted nor reported.
    private static let patience: Duration = .seconds(600)
    /// The maximum number of consecutive failed requests to a feedback hook. After these, the hook's other failures
    /// that are known then are not reported.
    private static let maximumFailures = 3
    /// The maximum numbers of requests to feedback hooks in progress: of all apps, of one app, and to one hook of an
    /// app. Turns alternate between apps and between an app's hooks, so that hooks that never respond delay few others.
    static let postLimits = BudgetLimits(
        .init(whole: .held(64), app: .held(8), caller: .held(4)),
        waiting: .init(),
        patience: .seconds(3600)
    )
    /// The maximum length of a feedback hook's response, in bytes. The response body is ignored.
    private static let maximumResponse = 64 * 1024

    /// A notification whose outcomes are followed, with the bridge whose statistics count them.
    struct Followed: Sendable {
        let push: PushSubmission.Accepted
        let bridge: String
        /// The URL of the feedback hook, or `nil` if failures are not reported.
        let hook: String?
        let plan: GorushPlan
    }

    private struct Hook: Sendable {
        let url: String
        let app: Int64
        let bundleID: Topic
    }

    /// A work item of the service: a notification to follow, or failures to report to a hook.
    private enum Work: Sendable {
        case follow(Followed, Topic)
        case post([GorushLogEntry], Hook)

        /// The number of tokens and failures that the work item keeps in memory. Each takes about 200 bytes.
        var size: Int {
            switch self {
            case .follow(let followed, _): GorushFollower.size + followed.push.tokens.count
            case .post(let entries, _): GorushFollower.size + entries.count
            }
        }
    }

    private let budget: Budget
    /// The budget of requests to hooks in progress, which is separate from that of webhooks. Requests that wait are
    /// charged to ``budget``.
    let posts = Budget(.webhookPosts, limits: Self.postLimits)
    private let submission: PushSubmission
    private let statistics: GorushStatistics
    private let client: RestrictedHTTPClient
    private let logger: Logger
    private let log: RateLimitedLog
    private let (waiting, queue): (AsyncStream<(Work, BudgetPermit)>, AsyncStream<(Work, BudgetPermit)>.Continuation)

    init(
        _ submission: PushSubmission,
        _ statistics: GorushStatistics,
        client: RestrictedHTTPClient,
        budgets: BudgetRegistry,
        logger: Logger
    ) {
        (self.submission, self.statistics, self.client, self.logger) = (submission, statistics, client, logger)
        (self.budget, self.log) = (budgets[.followedOutcomes], RateLimitedLog(logger, budgets[.logLines]))
        (self.waiting, self.queue) = AsyncStream.makeStream()
    }

    /// Begins to follow the outcomes of a notification. If too much work waits, a warning is logged instead.
    func follow(_ followed: Followed, of app: Topic) { self.add(.follow(followed, app), bridge: followed.bridge, app) }

    /// Counts failures that are known before anything is sent, and queues the requests that report them to the hook, if
    /// there is one.
    func report(_ failures: [GorushLogEntry], bridge: String, hook: String?, of app: AppRecord) {
        guard !failures.isEmpty else { return }
        self.statistics.count(bridge) { $0.failed += failures.count }
        guard let hook else { return }
        let work = Work.post(failures, Hook(url: hook, app: app.id, bundleID: app.bundleID))
        self.add(work, bridge: bridge, app.bundleID)
    }

    /// Queues work within the budget, which limits the work that waits or is in progress. No app can use all of it.
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
                    case .follow(let followed, let app): await self.observe(followed, of: app)
                    case .post(let entries, let hook): await self.post(entries, to: hook)
                    }
                }
            }
            group.cancelAll()
        }
    }

    private func observe(_ followed: Followed, of app: Topic) async {
        let id = followed.push.notification.id
        let parts = self.submission.parts
        do {
            try await parts.outcomes.observe(id, atMost: Self.patience) { signals in
                var reported: Set<DeviceToken> = []
                var iterator = signals.makeAsyncIterator()
                repeat {
                    guard let current = try await parts.store.notification(id) else { return }
                    let verdicts = try await self.submission.verdicts(of: followed.push, now: current)
                    await self.report(verdicts, of: followed, app, &reported)
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

    /// Counts the outcomes that have become final, and reports the failures among them to the hook, if there is one.
    /// `reported` contains the tokens whose outcomes were counted before.
    private func report(
        _ verdicts: [DeviceToken: TokenOutcome],
        of followed: Followed,
        _ app: Topic,
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
        guard let url = followed.hook else { return }
        await self.post(failures, to: Hook(url: url, app: followed.push.notification.app, bundleID: app))
    }

    /// Reports failures to a hook, one request each, until ``maximumFailures`` consecutive requests have failed.
    private func post(_ entries: [GorushLogEntry], to hook: Hook) async {
        var failed = 0
        for entry in entries {
            guard !Task.isCancelled, let body = try? entry.json.text else { return }
            let failure: String?
            do {
                failure = try await self.post(body, to: hook)
            } catch let refusal as BudgetRefusal {
                failure = refusal.error.error.message
            } catch {
                // The service is ending.
                return
            }
            guard let why = failure else {
                failed = 0
                continue
            }
            failed += 1
            self.logger.warning("post to a feedback hook failed", metadata: ["error": "\(why)"])
            guard failed < Self.maximumFailures else { return }
        }
    }

    /// Sends the body of a report to a hook once ``postLimits`` permit another request.
    /// - Returns: The error message of a failed request, or `nil` if it succeeded.
    /// - Throws: ``BudgetRefusal`` if the wait for a permit takes longer than the limits allow, `CancellationError` at
    ///   shutdown.
    private func post(_ body: Data, to hook: Hook) async throws -> String? {
        let turn = try await self.posts.wait(for: BudgetCaller(app: hook.bundleID, .name(hook.url)))
        defer { turn.end() }
        do throws(PinnedClientFailure) {
            let response = try await self.client.request(
                .POST,
                hook.url,
                headers: ["content-type": "application/json", "user-agent": "martlet"],
                body: body,
                app: hook.app,
                maximum: Self.maximumResponse
            )
            return response.status == 200 ? nil : "status \(response.status)"
        } catch {
            return error.text
        }
    }
}

extension TokenOutcome {
    /// A Boolean value that indicates whether the outcome can no longer change.
    fileprivate var isFinal: Bool { if case .pending = self { false } else { true } }
}
