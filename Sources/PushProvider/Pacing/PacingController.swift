import Foundation
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Who may send how much now: the pace of each notification, the rate of each app, and the strain that each push service
/// shows. One for the whole provider; all moments are of the steady clock.
final class PacingController: Sendable {
    /// Recipients for the next page; with 0, when to ask again.
    struct Allowance: Hashable, Sendable {
        var count: Int
        var next: Timestamp
    }

    private struct State {
        var notifications: [UUID: Pacer] = [:]
        var apps: [Int64: Pacer] = [:]
        var strain: [DispatchTarget: AdaptiveRateLimiter] = [:]
        /// No campaign of the service sends before that.
        var restsUntil: [DispatchTarget: Timestamp] = [:]
    }

    private let settings: AdaptiveRateLimiter.Settings
    private let state = Mutex(State())

    /// - Parameter page: recipients of a full page.
    init(page: Int) {
        var settings = AdaptiveRateLimiter.Settings()
        settings.page = page
        self.settings = settings
    }

    /// The app's rate is taken with the allowance, because its campaigns are sent at the same time.
    func allowance(for notification: NotificationRecord, app: AppRecord?, now: Timestamp) -> Allowance {
        self.state.withLock { state in
            let service = DispatchTarget(notification)
            if let end = state.restsUntil[service] {
                if end > now { return Allowance(count: 0, next: end) }
                state.restsUntil[service] = nil
            }
            let page = state.strain[service]?.pageSize ?? self.settings.page
            var allowance = Allowance(count: page, next: now)
            if var machine = Self.machine(of: notification, in: &state, now: now) {
                allowance.limit(by: machine.allowance(now: now))
                state.notifications[notification.id] = machine
            }
            if let rate = app?.rate {
                let wanted = PaceSettings.rate(rate)
                if state.apps[notification.app]?.settings != wanted {
                    state.apps[notification.app] = Pacer(settings: wanted, now: now)
                }
                if let ofApp = state.apps[notification.app]?.allowance(now: now) { allowance.limit(by: ofApp) }
                state.apps[notification.app]?.send(allowance.count, now: now)
            } else {
                state.apps[notification.app] = nil
            }
            return allowance
        }
    }

    /// Part of an allowance is not needed: another campaign of the app may have it.
    func giveBack(_ count: Int, app: AppRecord?, now: Timestamp) {
        guard count > 0, let app, app.rate != nil else { return }
        self.state.withLock { $0.apps[app.id]?.giveBack(count, now: now) }
    }

    /// - Returns: where the notification's wave stands now, if it is sent at a pace.
    func spend(_ count: Int, of notification: NotificationRecord, now: Timestamp) -> WaveProgress? {
        self.state.withLock { state in
            guard var machine = Self.machine(of: notification, in: &state, now: now) else { return nil }
            machine.send(count, now: now)
            state.notifications[notification.id] = machine
            return WaveProgress(startedAt: machine.state.waveStartedAt, sent: machine.state.sentInWave)
        }
    }

    /// The time to wait before the next page of any campaign to this service.
    func record(_ report: AdaptiveRateLimiter.Report, of service: DispatchTarget, now: Timestamp) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return self.state.withLock { state in
            var machine = state.strain[service] ?? AdaptiveRateLimiter(settings: self.settings)
            defer { state.strain[service] = machine }
            let delay = machine.record(report, using: &generator)
            if delay > .zero { state.restsUntil[service] = now.advanced(by: delay) }
            return delay
        }
    }

    /// The notification will not be asked for again soon.
    func forget(_ notification: UUID) {
        self.state.withLock { $0.notifications[notification] = nil }
    }

    private static func machine(
        of notification: NotificationRecord,
        in state: inout State,
        now: Timestamp
    ) -> Pacer? {
        if let machine = state.notifications[notification.id] { return machine }
        guard let pace = notification.pace, let json = try? JSONValue(parsing: pace),
            let settings = try? PaceSettings(stored: json)
        else { return nil }
        let wave = notification.progress.wave
        let machine = Pacer(
            settings: settings,
            state: .init(waveStartedAt: wave.startedAt, sentInWave: wave.sent),
            now: now
        )
        state.notifications[notification.id] = machine
        return machine
    }
}

extension PacingController.Allowance {
    fileprivate mutating func limit(by other: Pacer.Allowance) {
        self.count = min(self.count, other.count)
        self.next = max(self.next, other.next)
    }
}
