import Foundation
import ProviderModel
import PushStore
import PushTypes
import Synchronization

/// Decides to how many recipients of a notification pushes may be sent now. It considers the notification's pace, the
/// rate of the app, and the strain of the push service.
///
/// There is one controller for the whole provider. Of several nodes, each sends its part of an app's rate. All times are of the steady clock.
final class PacingController: Sendable {
    private struct State {
        var notifications: [UUID: Pacer] = [:]
        var apps: [Int64: Pacer] = [:]
        var strain: [DispatchTarget: AdaptiveRateLimiter] = [:]
        var steering: [UUID: WaveSteering] = [:]
        /// The times until which the campaigns to each overloaded service are paused.
        var pausedUntil: [DispatchTarget: Timestamp] = [:]
    }

    private let settings: AdaptiveRateLimiter.Settings
    private let figures: @Sendable (Int64) -> DownloadFigures?
    private let waits: HeldWaveRegistry
    private let nodes: @Sendable () -> Int
    private let state = Mutex(State())

    /// Creates a controller.
    /// - Parameters:
    ///   - page: The number of recipients of a full page.
    ///   - figures: Returns the download figures of an app, or `nil` if they are not known.
    ///   - waits: The registry of the waves that wait for downloads.
    ///   - nodes: Returns the number of nodes that share the store. By default, there is one.
    init(
        page: Int,
        figures: @escaping @Sendable (Int64) -> DownloadFigures? = { _ in nil },
        waits: HeldWaveRegistry = HeldWaveRegistry(),
        nodes: @escaping @Sendable () -> Int = { 1 }
    ) {
        var settings = AdaptiveRateLimiter.Settings()
        settings.page = page
        (self.settings, self.figures, self.waits, self.nodes) = (settings, figures, waits, nodes)
    }

    /// Returns the allowance for the next page, and charges it to the app's rate immediately, because campaigns of an
    /// app are sent in parallel.
    func allowance(for notification: PreparedNotification, now: Timestamp) -> Pacer.Allowance {
        self.state.withLock { state in
            let record = notification.record
            let service = DispatchTarget(record)
            if let end = state.pausedUntil[service] {
                if end > now { return .init(count: 0, next: end) }
                state.pausedUntil[service] = nil
            }
            let page = state.strain[service]?.pageSize ?? self.settings.page
            var allowance = Pacer.Allowance(count: page, next: now)
            if var pacer = Self.pacer(of: notification, in: state, now: now) {
                allowance.limit(by: pacer.allowance(now: now))
                state.notifications[record.id] = pacer
                if case .waves(_, _, let limits?) = pacer.settings, pacer.wave.startedAt == nil, allowance.count > 0,
                    let next = self.wait(of: record, limits, in: &state, now: now)
                {
                    return .init(count: 0, next: next)
                }
            }
            if let rate = notification.app?.rate {
                let wanted = PaceSettings.rate(max(1, rate / max(1, self.nodes())))
                if state.apps[record.app]?.settings != wanted {
                    state.apps[record.app] = Pacer(settings: wanted, now: now)
                }
                if let ofApp = state.apps[record.app]?.allowance(now: now) { allowance.limit(by: ofApp) }
                state.apps[record.app]?.send(allowance.count, now: now)
            } else {
                state.apps[record.app] = nil
            }
            return allowance
        }
    }

    /// Returns the time at which to decide again about the next wave of a notification, or `nil` if the wave may begin.
    private func wait(
        of record: NotificationRecord,
        _ limits: SteeringLimits,
        in state: inout State,
        now: Timestamp
    ) -> Timestamp? {
        var steering = state.steering[record.id] ?? WaveSteering(limits: limits)
        defer { state.steering[record.id] = steering }
        switch steering.decide(self.figures(record.app), now: now) {
        case .begin:
            self.waits.note(nil, of: record.id, now: now)
            return nil
        case .wait(let wait):
            self.waits.note(wait, of: record.id, now: now)
            return now.advanced(by: WaveSteering.interval)
        }
    }

    /// Refunds the unused recipients of an allowance to the app's rate, for its other campaigns.
    func release(_ count: Int, of notification: PreparedNotification, now: Timestamp) {
        guard count > 0, let app = notification.app, app.rate != nil else { return }
        self.state.withLock { $0.apps[app.id]?.release(count, now: now) }
    }

    /// Charges recipients to the notification's pace.
    /// - Returns: The progress of the notification's wave, or `nil` if the notification is sent as fast as possible.
    func spend(_ count: Int, of notification: PreparedNotification, now: Timestamp) -> WaveProgress? {
        self.state.withLock { state in
            guard var pacer = Self.pacer(of: notification, in: state, now: now) else { return nil }
            pacer.send(count, now: now)
            state.notifications[notification.record.id] = pacer
            return pacer.wave
        }
    }

    /// Evaluates the report of a page for strain: signs that the push service is overloaded.
    /// - Returns: The time to wait before the next page of any campaign to this service, or zero without strain.
    func record(_ report: AdaptiveRateLimiter.Report, of service: DispatchTarget, now: Timestamp) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return self.state.withLock { state in
            var limiter = state.strain[service] ?? AdaptiveRateLimiter(settings: self.settings)
            defer { state.strain[service] = limiter }
            // Browsers have many push services: one that does not respond must not delay the others.
            let report = service.isWeb && report.isAnswered ? report.withoutUnreachable : report
            let delay = limiter.record(report, using: &generator)
            if delay > .zero { state.pausedUntil[service] = now.advanced(by: delay) }
            return delay
        }
    }

    /// Forgets the pacer of a notification that has ended or is paused.
    func forget(_ notification: UUID) {
        self.state.withLock { state in (state.notifications[notification], state.steering[notification]) = (nil, nil) }
    }

    private static func pacer(of notification: PreparedNotification, in state: State, now: Timestamp) -> Pacer? {
        if let pacer = state.notifications[notification.record.id] { return pacer }
        guard let settings = notification.record.pace else { return nil }
        return Pacer(settings: settings, wave: notification.record.progress.wave, now: now)
    }
}
