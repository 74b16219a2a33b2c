import Foundation
package import MartletKit
package import PushSupport
package import PushTypes

/// The state machine of a reader. It decides the effect of a push, the steps that lead to the issue's file, and the
/// retries. It works on one issue at a time, and ignores the results of steps that are no longer running. The rules are
/// those of APNs reference 10.1.
package struct ReaderStateMachine: Sendable {
    /// The maximum number of pushes that wait until the work on another issue has finished. Further pushes are ignored.
    private static let maximumWaiting = 8

    private enum Phase: Hashable {
        /// A phase without work on an issue.
        case idle
        case running
        /// A phase in which the step waits to be repeated at this time of the steady clock.
        case waiting(Timestamp)
        /// A phase in which the step waits until the network is Wi-Fi.
        case paused
    }

    package private(set) var state: ReaderState
    private let rules: ReaderRules
    package private(set) var network: ReaderNetwork
    private var phase = Phase.idle
    private var waiting: [IssuePush] = []
    /// The file that is being downloaded, or `nil` before the provider has granted the download.
    private var file: PublishedFile?
    /// The time of the steady clock at which the last download of this run began, or `nil` before the first.
    private var lastSteady: Timestamp?

    package init(_ state: ReaderState, rules: ReaderRules = ReaderRules(), network: ReaderNetwork = .wifi) {
        (self.state, self.rules, self.network) = (state, rules, network)
    }

    /// A Boolean value that indicates whether a step is running. It is `false` while it waits for a retry or Wi-Fi.
    package var hasStep: Bool { self.phase == .running }

    // MARK: - What happens

    /// Processes the launch of the app, which resumes the work of the last run.
    package mutating func launched() -> [ReaderAction] {
        guard self.phase == .idle, let work = self.state.work else { return [] }
        // The results of the steps before the download are lost, and an address may have expired.
        self.state.work?.step = [.grant, .download].contains(work.step) ? .grant : .catalogue
        guard self.network == .wifi else {
            self.phase = .paused
            return [.report(.paused(product: work.product))]
        }
        return self.take()
    }

    /// Processes a push that has woken the app. The work on its issue begins, or the push waits or is ignored.
    package mutating func pushed(_ push: IssuePush, now: ClockReading) -> [ReaderAction] {
        if let id = push.id, self.state.handled.contains(id) { return self.skip(push.product, .repeated) }
        guard self.rules.allows(push.product) else { return self.skip(push.product, .developmentOnly) }
        // The push is lost, and its id is not remembered.
        guard self.network == .wifi else { return self.skip(push.product, .notOnWiFi) }
        self.remember(push)
        if let reason = self.refusal(of: push.product, now: now) { return self.skip(push.product, reason) + [.save] }
        guard let work = self.state.work else { return self.begin(push) }
        let isKnown = work.product == push.product || self.waiting.contains { $0.product == push.product }
        if isKnown { return self.skip(push.product, .underWay) + [.save] }
        guard self.waiting.count < Self.maximumWaiting else { return self.skip(push.product, .busy) + [.save] }
        self.waiting.append(push)
        return [.save]
    }

    package mutating func networkChanged(to network: ReaderNetwork) -> [ReaderAction] {
        self.network = network
        guard let work = self.state.work else { return [] }
        if network == .wifi {
            guard self.phase == .paused else { return [] }
            return [.report(.resumed(product: work.product))] + self.take()
        }
        guard self.phase != .paused else { return [] }
        self.phase = .paused
        return [.stop, .report(.paused(product: work.product))]
    }

    /// Processes a time of the steady clock that ``ReaderAction/wake(at:)`` requested and that has been reached.
    package mutating func timeReached(_ now: Timestamp) -> [ReaderAction] {
        guard case .waiting(let until) = self.phase, self.state.work != nil else { return [] }
        return until <= now ? self.take() : [.wake(at: until)]
    }

    /// Processes the opening of an issue by the user.
    /// - Returns: The actions to perform. There are none for an issue that is not downloaded.
    package mutating func opened(_ product: String) -> [ReaderAction] {
        guard self.state.issue(product)?.status == .downloaded else { return [] }
        self.change(product) { $0.isMarked = false }
        return [.save, .report(.opened(product: product))]
    }

    // MARK: - Rules

    /// Returns the reason why a push for this product has no effect, or `nil` if the issue may be downloaded.
    private mutating func refusal(of product: String, now: ClockReading) -> IgnoredPushReason? {
        if self.state.issue(product)?.status == .downloaded { return .alreadyDownloaded }
        if self.state.work?.product == product { return .underWay }
        let wait = self.waitOfTheDay(now)
        return wait > .zero ? .onceADay(seconds: max(1, wait.components.seconds)) : nil
    }

    /// Returns the time until the next background download may begin, or zero if it may begin now. The interval must
    /// have passed by both clocks, so that an adjustment of the wall clock does not shorten it. If the last download is
    /// in the future, because the clock was set back, it is treated as one at `now`, so that the wait is finite.
    private mutating func waitOfTheDay(_ now: ClockReading) -> Duration {
        guard let last = self.state.lastDownload else { return .zero }
        if last > now.wall { self.state.lastDownload = now.wall }
        var since = now.wall.since(min(last, now.wall))
        if let lastSteady { since = min(since, now.steady.since(lastSteady)) }
        return max(.zero, self.rules.interval - self.rules.tolerance - since)
    }

    private mutating func remember(_ push: IssuePush) {
        guard let id = push.id else { return }
        self.state.handled.append(id)
        self.state.handled.removeFirst(max(0, self.state.handled.count - ReaderState.rememberedPushes))
    }

    private func skip(_ product: String, _ reason: IgnoredPushReason) -> [ReaderAction] {
        [.report(.skipped(product: product, reason))]
    }

    // MARK: - Work

    private mutating func begin(_ push: IssuePush) -> [ReaderAction] {
        self.state.work = ReaderWork(product: push.product)
        return [.save] + self.take()
    }

    private mutating func take() -> [ReaderAction] {
        guard let work = self.state.work else { return [] }
        self.phase = .running
        switch work.step {
        case .catalogue: return [.loadCatalogue(ifChangedFrom: self.state.entityTag)]
        case .entitlement: return [.checkEntitlement(product: work.product)]
        case .cover:
            guard let cover = self.state.issue(work.product)?.missingCover else { return self.go(to: .grant) }
            return [.loadCover(product: work.product, cover)]
        case .grant: return [.requestGrant(product: work.product)]
        case .download:
            guard let file = self.file else { return self.go(to: .grant) }
            let received = self.state.issue(work.product)?.received ?? 0
            let event = ReaderEvent.downloading(product: work.product, from: received, of: file.size)
            return [.report(event), .download(product: work.product, file)]
        }
    }

    private mutating func go(to step: ReaderWork.Step) -> [ReaderAction] {
        self.state.work?.step = step
        self.state.work?.failures = 0
        return self.take()
    }

    /// Returns whether this step is running, so that its result must be used.
    /// - Parameter product: The product id on which the step must work, or `nil` for any.
    private func isRunning(_ step: ReaderWork.Step, of product: String? = nil) -> Bool {
        guard self.phase == .running, let work = self.state.work, work.step == step else { return false }
        return product == nil || work.product == product
    }

    /// Finishes the work on the issue with an event to report, and begins with the next push that may be fetched.
    private mutating func end(with event: ReaderEvent, now: ClockReading) -> [ReaderAction] {
        (self.state.work, self.file, self.phase) = (nil, nil, .idle)
        var actions: [ReaderAction] = [.report(event), .save]
        while self.state.work == nil, !self.waiting.isEmpty {
            let push = self.waiting.removeFirst()
            if let reason = self.refusal(of: push.product, now: now) {
                actions += self.skip(push.product, reason)
            } else {
                actions += self.begin(push)
            }
        }
        return actions
    }

    /// Schedules a repetition of the step, or abandons the issue.
    /// - Parameter delay: The delay that the provider requests, or `nil` if it requests none. Such a repetition does
    ///   not count as a failure as long as the total for the issue does not exceed
    ///   ``ReaderRules/maximumRequestedWait``.
    private mutating func fail(_ reason: String, after delay: Duration?, now: ClockReading) -> [ReaderAction] {
        guard var work = self.state.work else { return [] }
        let requested = max(.zero, delay ?? .zero)
        let doubled = self.rules.firstWait * (1 << min(max(0, work.failures), 20))
        let wait = max(requested, min(doubled, self.rules.longestWait))
        let waited = Duration.milliseconds(work.waitedMs ?? 0) + wait
        if requested > .zero, waited <= self.rules.maximumRequestedWait {
            work.waitedMs = waited.milliseconds
        } else {
            work.failures += 1
            guard work.failures <= self.rules.maximumFailures else { return self.giveUp(reason, now: now) }
        }
        self.state.work = work
        let until = now.steady.advanced(by: wait)
        self.phase = .waiting(until)
        let seconds = max(1, wait.components.seconds)
        return [.report(.waiting(product: work.product, seconds: seconds, reason: reason)), .save, .wake(at: until)]
    }

    /// Abandons the issue after a failure, and removes the received bytes of its file.
    private mutating func giveUp(_ reason: String, now: ClockReading) -> [ReaderAction] {
        guard let work = self.state.work else { return [] }
        let part = self.file.map { [ReaderAction.removePart($0)] } ?? []
        self.change(work.product) { ($0.status, $0.received) = (.failed, 0) }
        return part + self.end(with: .failed(product: work.product, reason: reason), now: now)
    }

    private mutating func change(_ product: String, _ change: (inout LibraryIssue) -> Void) {
        guard let index = self.state.library.firstIndex(where: { $0.product == product }) else { return }
        change(&self.state.library[index])
    }
}

extension ReaderStateMachine {
    /// Processes the loaded catalogue, or `nil` if the catalogue has not changed.
    package mutating func catalogueLoaded(_ catalogue: IssueCatalogue?, now: ClockReading) -> [ReaderAction] {
        if let catalogue { self.replaceLibrary(catalogue) }
        let listed = self.state.library.filter { !$0.isWithdrawn }
        let event = ReaderEvent.catalogue(issues: listed.count, isNew: catalogue != nil)
        guard self.isRunning(.catalogue), let product = self.state.work?.product else {
            return [.report(event), .save]
        }
        guard let issue = listed.first(where: { $0.product == product }) else {
            return [.report(event)] + self.end(with: .skipped(product: product, .withdrawn), now: now)
        }
        let newest = listed.first { $0.issue.publication == issue.issue.publication }
        let reason: IgnoredPushReason? =
            newest?.product != product ? .notNewest : issue.status == .downloaded ? .alreadyDownloaded : nil
        if let reason { return [.report(event)] + self.end(with: .skipped(product: product, reason), now: now) }
        return [.report(event), .save] + self.go(to: .entitlement)
    }

    package mutating func entitlementChecked(_ entitlement: IssueEntitlement, now: ClockReading) -> [ReaderAction] {
        let product = entitlement.product
        guard self.isRunning(.entitlement, of: product) else { return [] }
        switch entitlement.decision {
        case .entitled(let grounds):
            self.change(product) { $0.entitledBy = grounds }
            return [.report(.entitled(product: product, by: grounds)), .save] + self.go(to: .cover)
        case .refused(let code, _):
            return self.end(with: .skipped(product: product, .notEntitled(code: code)), now: now)
        case .unavailable(let message, let delay): return self.fail(message, after: delay, now: now)
        }
    }

    package mutating func coverLoaded(_ product: String, _ cover: PublishedFile) -> [ReaderAction] {
        self.change(product) { $0.coverSHA256 = cover.sha256 }
        guard self.isRunning(.cover, of: product) else { return [.save] }
        return [.report(.coverLoaded(product: product)), .save] + self.go(to: .grant)
    }

    /// Processes the grant of a download. The interval until the next download begins with the first byte of this one.
    package mutating func granted(_ product: String, _ grant: DownloadGrant) -> [ReaderAction] {
        guard self.isRunning(.grant, of: product) else { return [] }
        // The received bytes of an earlier file are not part of this one.
        let outdated = self.state.issue(product)?.file.flatMap { $0.sha256 == grant.file.sha256 ? nil : $0 }
        self.file = grant.file
        self.change(product) { issue in
            if outdated != nil { issue.received = 0 }
            (issue.status, issue.file, issue.entitledBy) = (.downloading, grant.file, grant.entitledBy)
        }
        // The number of failures is not reset: a URL alone is no progress.
        self.state.work?.step = .download
        return (outdated.map { [.removePart($0)] } ?? []) + [.save] + self.take()
    }

    /// Records the number of received bytes of the file.
    /// - Parameter first: The time at which the first byte arrived after the download was started or resumed.
    package mutating func received(_ bytes: Int64, of product: String, since first: ClockReading) {
        guard self.isRunning(.download, of: product) else { return }
        self.beginDay(at: first)
        if bytes > self.state.issue(product)?.received ?? 0 { self.state.work?.failures = 0 }
        self.change(product) { $0.received = bytes }
    }

    /// Starts the interval until the next background download, unless the same work has started it already.
    private mutating func beginDay(at time: ClockReading) {
        guard self.state.work?.hasBegun == false else { return }
        self.state.work?.hasBegun = true
        (self.state.lastDownload, self.lastSteady) = (time.wall, time.steady)
    }

    /// Processes the downloaded file of an issue, whose hash was verified.
    package mutating func downloaded(_ product: String, now: ClockReading) -> [ReaderAction] {
        guard self.isRunning(.download, of: product), let file = self.file else { return [] }
        self.beginDay(at: now)
        self.change(product) { ($0.status, $0.received, $0.isMarked) = (.downloaded, file.size, true) }
        return self.end(with: .downloaded(product: product, bytes: file.size), now: now)
    }

    /// Processes the failure of a step. Depending on the error, the step is repeated or skipped, or the issue
    /// abandoned.
    package mutating func failed(
        _ step: ReaderWork.Step,
        of product: String,
        _ error: NewsstandError,
        now: ClockReading
    ) -> [ReaderAction] {
        guard self.isRunning(step, of: product) else { return [] }
        // An issue can be read without its cover.
        if step == .cover { return self.go(to: .grant) }
        switch error {
        case .unavailable(let reason, let delay): return self.fail(reason, after: delay, now: now)
        case .malformed(let reason): return self.fail(reason, after: nil, now: now)
        case .refused(let code, _): return self.refused(code, step, product, "\(error)", now: now)
        case .wrongContent:
            guard self.state.work?.isSecondTry == false else { return self.giveUp("\(error)", now: now) }
            self.state.work?.isSecondTry = true
            self.change(product) { $0.received = 0 }
            let part = self.file.map { [ReaderAction.removePart($0)] } ?? []
            return part + [.save] + self.take()
        case .noSpace, .storage: return self.giveUp("\(error)", now: now)
        }
    }

    private mutating func refused(
        _ code: String,
        _ step: ReaderWork.Step,
        _ product: String,
        _ reason: String,
        now: ClockReading
    ) -> [ReaderAction] {
        switch (step, code) {
        case (.download, _):
            // The address has expired, or is that of an earlier file: a new one is requested.
            self.state.work?.step = .grant
            self.file = nil
            return self.fail(reason, after: nil, now: now)
        case (_, "issue_withdrawn"), (_, "no_such_issue"):
            let part = self.state.issue(product)?.file.map { [ReaderAction.removePart($0)] } ?? []
            self.change(product) { ($0.isWithdrawn, $0.status, $0.received) = (true, .listed, 0) }
            return part + self.end(with: .skipped(product: product, .withdrawn), now: now)
        case (.grant, "not_entitled"), (.grant, "transaction_expired"), (.grant, "transaction_revoked"):
            return self.end(with: .skipped(product: product, .notEntitled(code: code)), now: now)
        default: return self.giveUp(reason, now: now)
        }
    }

    /// Replaces the issues of the library with those of a catalogue, but keeps the downloaded ones.
    private mutating func replaceLibrary(_ catalogue: IssueCatalogue) {
        let known = Dictionary(self.state.library.map { ($0.product, $0) }) { first, _ in first }
        var library: [LibraryIssue] = []
        var products: Set<String> = []
        for entry in catalogue.issues where self.rules.allows(entry.product) && products.insert(entry.product).inserted
        {
            var issue = known[entry.product] ?? LibraryIssue(entry)
            (issue.issue, issue.isWithdrawn) = (entry, false)
            library.append(issue)
        }
        for var issue in self.state.library where !products.contains(issue.product) {
            // A reader keeps its downloaded issues; others leave the library with the catalogue.
            guard issue.status == .downloaded else { continue }
            // An older issue may be on the catalogue's next page.
            issue.isWithdrawn = catalogue.next == nil || issue.issue.date > catalogue.issues.last?.date ?? ""
            library.append(issue)
        }
        self.state.library = Self.bounded(library)
        self.state.entityTag = catalogue.entityTag
    }

    /// Returns the issues without those that exceed the maximum. The oldest that are not downloaded are dropped first.
    private static func bounded(_ library: [LibraryIssue]) -> [LibraryIssue] {
        var excess = library.count - ReaderState.maximumIssues
        guard excess > 0 else { return library }
        let kept = library.reversed().filter { issue in
            guard excess > 0, issue.status != .downloaded else { return true }
            excess -= 1
            return false
        }
        return Array(kept.reversed().prefix(ReaderState.maximumIssues))
    }
}
