import MartletKit
package import PushSupport
package import PushTypes

/// Decides what a reader does: which pushes count, the steps from the push to the file, and what comes after a failure.
///
/// There is one issue at a time. Results of steps that are not under way any more change nothing. The rules are those of
/// reference 10.1.
package struct ReaderStateMachine: Sendable {
    /// The most pushes that wait for the end of the work on another issue.
    static let maximumWaiting = 8

    /// The state of the present step.
    enum Phase: Hashable {
        /// Nothing is under way.
        case idle
        case running
        /// The step comes again at a time of the steady clock.
        case waiting(Timestamp)
        /// The step comes again on Wi-Fi.
        case paused
    }

    package internal(set) var state: ReaderState
    let rules: ReaderRules
    package private(set) var network: ReaderNetwork
    var phase = Phase.idle
    /// The pushes that wait for the end of the work.
    var waiting: [IssuePush] = []
    /// The file of the issue that is downloaded.
    var file: PublishedFile?
    /// The beginning of this run's last download by the steady clock.
    var lastSteady: Timestamp?

    package init(_ state: ReaderState, rules: ReaderRules = ReaderRules(), network: ReaderNetwork = .wifi) {
        (self.state, self.rules, self.network) = (state, rules, network)
    }

    /// Indicates that a step is under way, rather than none, or one that waits for a time or for Wi-Fi.
    package var hasStep: Bool { self.phase == .running }

    // MARK: - What happens

    /// The app runs, and resumes the work of the last run.
    package mutating func launched() -> [ReaderAction] {
        guard self.phase == .idle, let work = self.state.work else { return [] }
        // Nothing is left of the steps before the download, and an address may have expired.
        self.state.work?.step = [.grant, .download].contains(work.step) ? .grant : .catalogue
        guard self.network == .wifi else {
            self.phase = .paused
            return [.report(.paused(product: work.product))]
        }
        return self.take()
    }

    /// A push has woken the app.
    package mutating func pushed(_ push: IssuePush, now: ClockReading) -> [ReaderAction] {
        if let id = push.id, self.state.handled.contains(id) { return self.skip(push.product, .repeated) }
        guard self.rules.allows(push.product) else { return self.skip(push.product, .developmentOnly) }
        // It is lost: nothing of it is kept.
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

    /// The network is another one.
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

    /// A time of the steady clock has come.
    package mutating func timeReached(_ now: Timestamp) -> [ReaderAction] {
        guard case .waiting(let until) = self.phase, self.state.work != nil else { return [] }
        return until <= now ? self.take() : [.wake(at: until)]
    }

    /// The user has opened an issue.
    /// - Returns: Nothing to do for one that is not here.
    package mutating func opened(_ product: String) -> [ReaderAction] {
        guard self.state.issue(product)?.status == .downloaded else { return [] }
        self.change(product) { $0.isMarked = false }
        return [.save, .report(.opened(product: product))]
    }

    // MARK: - Rules

    /// Returns the reason for which an issue is not fetched now; `nil` for none.
    private mutating func refusal(of product: String, now: ClockReading) -> IgnoredPushReason? {
        if self.state.issue(product)?.status == .downloaded { return .alreadyDownloaded }
        if self.state.work?.product == product { return .underWay }
        let wait = self.waitOfTheDay(now)
        return wait > .zero ? .onceADay(seconds: max(1, wait.components.seconds)) : nil
    }

    /// Returns the time until the next background download may begin.
    ///
    /// Both clocks have to say that the day is over, so that a step of the wall clock is no second day. A last download in the future
    /// is left from a clock that was set back: it counts as one of now, so that the wait has an end.
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

    func skip(_ product: String, _ reason: IgnoredPushReason) -> [ReaderAction] {
        [.report(.skipped(product: product, reason))]
    }

    // MARK: - Work

    private mutating func begin(_ push: IssuePush) -> [ReaderAction] {
        self.state.work = ReaderWork(product: push.product)
        return [.save] + self.take()
    }

    /// Takes the present step.
    mutating func take() -> [ReaderAction] {
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

    /// Takes another step.
    mutating func go(to step: ReaderWork.Step) -> [ReaderAction] {
        self.state.work?.step = step
        self.state.work?.failures = 0
        return self.take()
    }

    /// Indicates whether a step of an issue is under way, so that its result counts.
    func isRunning(_ step: ReaderWork.Step, of product: String? = nil) -> Bool {
        guard self.phase == .running, let work = self.state.work, work.step == step else { return false }
        return product == nil || work.product == product
    }

    /// Ends the work on the issue, and begins with the next push that counts.
    mutating func end(with event: ReaderEvent, now: ClockReading) -> [ReaderAction] {
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

    /// Gives the issue up, or waits before the step comes again.
    /// - Parameter delay: The time that the provider asks for. To wait for it is no failure, as long as all such waits for the issue
    ///   together are no longer than ``ReaderRules/maximumRequestedWait``.
    mutating func fail(_ reason: String, after delay: Duration?, now: ClockReading) -> [ReaderAction] {
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

    /// Gives the issue up.
    mutating func giveUp(_ reason: String, now: ClockReading) -> [ReaderAction] {
        guard let work = self.state.work else { return [] }
        let part = self.file.map { [ReaderAction.removePart($0)] } ?? []
        self.change(work.product) { ($0.status, $0.received) = (.failed, 0) }
        return part + self.end(with: .failed(product: work.product, reason: reason), now: now)
    }

    /// Changes an issue of the library.
    mutating func change(_ product: String, _ change: (inout LibraryIssue) -> Void) {
        guard let index = self.state.library.firstIndex(where: { $0.product == product }) else { return }
        change(&self.state.library[index])
    }
}
