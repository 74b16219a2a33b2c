package import Foundation
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// The next time at which pushes of a notification are sent, and the estimated time at which sending ends.
///
/// It takes windows, waves, pace, time zones and retries into account. A value that cannot be known is `nil`.
package struct NotificationForecast: Hashable, Sendable {
    /// The reason why nothing is sent now.
    package enum Cause: String, CaseIterable, Hashable, Sendable {
        /// A wait for the start of the notification.
        case start
        /// A wait for the local time in the next time zone.
        case localTime
        /// A wait for the send window to open.
        case window
        /// A wait for the end of the pause between two waves.
        case wave
        /// A wait until open downloads or their bytes per second decrease, or until their figures are known.
        case downloads, bandwidth, figures
        /// A delay that the push service requested, or that follows from its lack of a response.
        case pushService
        /// A wait for a retry, because no other recipients remain.
        case retry
        /// A wait because a configuration fault pauses an environment of the notification.
        case environment
    }

    /// The maximum wait that still counts as sending now, so that no next time is shown.
    private static let moment: Duration = .seconds(1)
    /// The maximum time into the future for which an end is estimated. A later end is unknown.
    private static let horizon: Duration = .seconds(366 * 86_400)

    /// The next time at which pushes are sent, or `nil` if they are sent now, none are left, or the time is not known.
    package private(set) var nextAt: Timestamp?
    package private(set) var cause: Cause?
    /// The estimated time at which sending ends, or `nil` if it cannot be estimated.
    package private(set) var finishesAt: Timestamp?
    /// The number of seconds until ``finishesAt``, or `nil` if it cannot be estimated.
    package private(set) var secondsLeft: Int?
    /// The number of recipients per second while sending, rounded to tenths, or `nil` before the first final state.
    package private(set) var rate: Double?

    private let notification: NotificationRecord
    private let now: Timestamp

    /// Creates the forecast of a notification from its stored progress.
    /// - Parameters:
    ///   - firstStart: The start in the first time zone, see ``firstStart(of:in:)``, or `nil` if it is not known.
    ///   - paused: An environment of the notification that is paused, or `nil` if none is.
    ///   - steered: The wave of the notification that waits for downloads, or `nil` if none waits.
    package init(
        _ notification: NotificationRecord,
        firstStart: Timestamp? = nil,
        clocks: ClockReading,
        paused: EnvironmentStatus? = nil,
        steered: HeldWave? = nil
    ) {
        (self.notification, self.now) = (notification, clocks.wall)
        let perSecond = self.measuredRate
        self.rate = perSecond.map { ($0 * 10).rounded() / 10 }
        switch notification.state {
        case .paused, .cancelled, .done: return
        case .scheduled:
            let next = max(notification.startsAt, firstStart ?? notification.startsAt)
            guard next > self.now else { return }
            (self.nextAt, self.cause) = (next, firstStart == nil ? .start : .localTime)
        case .accepted, .sending:
            self.findNext(clocks, paused)
            if let steered, self.cause != .environment {
                // The moment depends on downloads, and is not known.
                (self.nextAt, self.cause) = (nil, Cause(rawValue: steered.cause.rawValue))
                return
            }
            if self.cause != .environment { self.estimate(perSecond) }
        }
    }

    private var progress: NotificationProgress { self.notification.progress }
    private var left: Int { max(0, self.progress.recipients - self.progress.finished) }

    private mutating func findNext(_ clocks: ClockReading, _ paused: EnvironmentStatus?) {
        let ahead = self.progress.ahead
        guard !ahead.isInFlight else { return }
        // Converts a time by the steady clock into the time by the wall clock.
        func wall(_ time: Timestamp?) -> Timestamp? { time.map { clocks.wall.advanced(by: $0.since(clocks.steady)) } }
        let pageAt = wall(ahead.nextPageAt)
        let shardAt = ahead.firstShardAt.map { max($0, pageAt ?? $0) }
        let retryAt = wall(ahead.retryAt)
        let next = [shardAt, retryAt].compactMap(\.self).min()
        let probeAt = paused?.nextProbeAt ?? self.now
        if paused != nil, next.map({ probeAt < $0 }) ?? true {
            // Recipients that are held back are due at their expiration, or earlier at the end of the pause.
            (self.nextAt, self.cause) = (probeAt, .environment)
            return
        }
        guard let next, next > self.now.advanced(by: Self.moment) else { return }
        self.nextAt = next
        if next != shardAt {
            self.cause = .retry
        } else if let first = ahead.firstShardAt, first >= pageAt ?? first {
            self.cause = self.causeOfShard
        } else if case .waves? = self.notification.pace {
            self.cause = .wave
        } else {
            self.cause = .pushService
        }
    }

    private var causeOfShard: Cause {
        switch self.notification.delivery?.beginning {
        case .local where self.progress.ahead.isFirstShardUnread: .localTime
        case .at where self.progress.startedAt == nil: .start
        default: self.notification.delivery?.window == nil ? .start : .window
        }
    }
}

// MARK: The end

extension NotificationForecast {
    /// The time zone for the estimate, which is that of the last recipients.
    private var zone: TimeZone {
        switch self.notification.delivery?.zone {
        case .fixed(let zone)?: zone
        case .device(let standard)?: self.progress.ahead.lastZone.flatMap { TimeZone(named: $0) } ?? standard
        case nil: .gmt
        }
    }

    private mutating func estimate(_ perSecond: Double?) {
        let ahead = self.progress.ahead
        // The times of retries are random, and not estimated.
        guard self.left > 0, ahead.shards > 0 else { return }
        var start = max(self.now, self.nextAt ?? self.now)
        var needed: Duration
        switch self.notification.pace {
        case .rate(let rate)?: needed = Self.seconds(Double(self.left) / Double(max(1, rate)))
        case .waves(let size, let interval, _)?:
            var further = self.left
            if let begun = self.progress.wave.startedAt {
                further = max(0, further - max(0, size - self.progress.wave.sent))
                start = max(self.now, begun)
                needed = .seconds(interval) * ((further + size - 1) / max(1, size))
                if further > 0 { start = begun }
            } else {
                needed = .seconds(interval) * ((further - 1) / max(1, size))
            }
        case nil:
            guard let perSecond else { return }
            needed = Self.seconds(Double(self.left) / perSecond)
        }
        if let last = ahead.lastShardAt, last > start {
            // Other time zones come first. The recipients of the last time zone are not counted separately.
            start = last
            needed = needed / max(1, ahead.shards)
        }
        guard needed < Self.horizon, let end = self.end(of: needed, from: start) else { return }
        self.finishesAt = max(end, self.now.advanced(by: Self.moment))
        self.secondsLeft = self.finishesAt.map { Int(($0.since(self.now) / .seconds(1)).rounded(.up)) }
    }

    /// Returns the time at which the send window will have been open for `needed`, or `nil` if it exceeds the horizon.
    private func end(of needed: Duration, from start: Timestamp) -> Timestamp? {
        guard let window = self.notification.delivery?.window else { return start.advanced(by: needed) }
        let zone = self.zone
        var (time, left) = (window.nextOpening(onOrAfter: start, in: zone), needed)
        while time < self.now.advanced(by: Self.horizon) {
            guard let close = window.closes(after: time, in: zone), close > time else { return time.advanced(by: left) }
            let open = close.since(time)
            guard open < left else { return time.advanced(by: left) }
            left -= open
            time = window.nextOpening(onOrAfter: close, in: zone)
        }
        return nil
    }

    /// The average number of recipients per second since the first page, without the hours outside the send window.
    private var measuredRate: Double? {
        guard let start = self.progress.startedAt, self.progress.finished > 0 else { return nil }
        let isIdle = self.notification.state == .paused || self.progress.ahead.nextPageAt.map { $0 > self.now } ?? false
        let isWaiting = self.progress.ahead.firstShardAt.map { $0 > self.now } ?? true
        let last = self.progress.lastPageAt ?? self.now
        let end = self.progress.finishedAt ?? (isIdle || isWaiting ? last : self.now)
        let seconds = max(self.openTime(from: start, to: end) / .seconds(1), 0.001)
        return Double(self.progress.finished) / seconds
    }

    private func openTime(from start: Timestamp, to end: Timestamp) -> Duration {
        guard let window = self.notification.delivery?.window else { return end.since(start) }
        let zone = self.zone
        var (time, sum) = (window.nextOpening(onOrAfter: start, in: zone), Duration.zero)
        while time < end {
            let close = min(end, window.closes(after: time, in: zone) ?? end)
            guard close > time else { break }
            sum += close.since(time)
            time = window.nextOpening(onOrAfter: close, in: zone)
        }
        return sum
    }

    private static func seconds(_ seconds: Double) -> Duration { .seconds(min(max(seconds, 0), 1e10)) }
}

extension NotificationForecast {
    /// Returns the start in the first time zone of the app's devices, for a scheduled notification at a local time. The
    /// notification is opened earlier, because devices may register from time zones further east.
    /// - Returns: The start, or `nil` for any other notification and if reading the zones takes longer than a second.
    package static func firstStart(
        of notification: NotificationRecord,
        in store: any AppStore & DeviceStore
    ) async throws -> Timestamp? {
        guard notification.state == .scheduled, let delivery = notification.delivery, !delivery.isSameEverywhere,
            case .local = delivery.beginning
        else { return nil }
        let starts = try await store.countingQuickly(app: notification.app, within: .seconds(1)) {
            try await NotificationPlanner.shards(of: notification, in: store).map(\.notBefore)
        }
        return starts?.min()
    }
}

/// The numbers of recipients that would be skipped because of their preferences or the frequency cap, by reason.
package struct ConsentForecast: Hashable, Sendable {
    package var counts: [SkipReason: Int] = [:]

    /// Counts the recipients in `groups`. `start` returns the start in a time zone, or `nil` to leave its devices out.
    package init(_ groups: [ConsentGroup], start: (TimeZone?) -> Timestamp?) {
        var starts: [String?: Timestamp?] = [:]
        var decisions: [Timestamp: ConsentDecision] = [:]
        for group in groups {
            let known = starts[group.timeZone]
            let found = known ?? start(group.timeZone.flatMap { TimeZone(named: $0) })
            if known == nil { starts[group.timeZone] = .some(found) }
            guard let time = found else { continue }
            let reason = decisions[time, default: ConsentDecision(at: time)]
                .reason(group.consent, timeZone: group.timeZone)
            guard let reason = reason ?? (group.isCapReached ? .capReached : nil) else { continue }
            self.counts[reason, default: 0] += group.count
        }
    }
}
