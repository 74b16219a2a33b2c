import ProviderModel
import PushTypes

/// Decides to how many recipients pushes may be sent now at a given pace, and when to decide again.
///
/// A rate is a token bucket whose capacity is the recipients of one second. It starts empty, so that a restart sends
/// nothing extra. The caller stores the progress of a wave, ``wave``, with each page, so that a restart continues the
/// same wave. If the clock is set back, the delay is at most one interval.
struct Pacer: Sendable {
    struct Allowance: Hashable, Sendable {
        /// The number of recipients to which pushes may be sent now, which is 0 or more.
        var count: Int
        /// The time at which to decide again if ``count`` is 0, and the current time otherwise.
        var next: Timestamp

        /// Limits the allowance to what `other` permits as well: the lower number of recipients and the later time.
        mutating func limit(by other: Allowance) {
            self.count = min(self.count, other.count)
            self.next = max(self.next, other.next)
        }
    }

    /// The upper bound on counts. It is larger than any wave or rate, and far from overflow.
    private static let enough = 1 << 40

    let settings: PaceSettings
    /// The progress of the wave, which survives a restart. It stays empty for rates.
    private(set) var wave: WaveProgress
    /// The fill level of the token bucket at ``refilledAt``, in thousandths of a recipient.
    private var credit: Int64 = 0
    private var refilledAt: Timestamp

    init(settings: PaceSettings, wave: WaveProgress = WaveProgress(), now: Timestamp) {
        self.settings = settings
        self.wave = WaveProgress(startedAt: wave.startedAt, sent: max(0, wave.sent))
        self.refilledAt = now
    }

    /// Returns to how many recipients pushes may be sent now. They are charged by ``send(_:now:)``.
    mutating func allowance(now: Timestamp) -> Allowance {
        switch self.settings {
        case .rate(let rate):
            self.refill(rate, now: now)
            return self.allowance(ofRate: rate, now: now)
        case .waves(let size, let interval, _):
            self.beginWaveIfDue(interval: interval, now: now)
            return self.allowance(ofWave: size, interval: interval, now: now)
        }
    }

    /// Charges recipients to which pushes are sent, at most as many as ``allowance(now:)`` returned.
    mutating func send(_ count: Int, now: Timestamp) {
        let count = max(0, min(count, Self.enough))
        switch self.settings {
        case .rate(let rate):
            self.refill(rate, now: now)
            self.credit = max(0, self.credit - Int64(count) * 1000)
        case .waves(_, let interval, _):
            self.beginWaveIfDue(interval: interval, now: now)
            if self.wave.startedAt == nil { self.wave.startedAt = now }
            self.wave.sent = min(self.wave.sent, Self.enough) + count
        }
    }

    /// Refunds recipients that were charged, but got no push. The bucket never exceeds the recipients of one second.
    mutating func release(_ count: Int, now: Timestamp) {
        guard case .rate(let rate) = self.settings else { return }
        self.refill(rate, now: now)
        self.credit = min(self.credit + Int64(max(0, min(count, Self.enough))) * 1000, Int64(rate) * 1000)
    }

    /// Refills the bucket: each millisecond adds `rate` thousandths of a recipient.
    private mutating func refill(_ rate: Int, now: Timestamp) {
        let elapsed = max(.zero, min(now.since(self.refilledAt), .seconds(1)))
        let milliseconds =
            elapsed == .zero ? 0 : elapsed == .seconds(1) ? 1000 : now.milliseconds - self.refilledAt.milliseconds
        self.credit = min(self.credit + milliseconds * Int64(rate), Int64(rate) * 1000)
        self.refilledAt = now
    }

    private func allowance(ofRate rate: Int, now: Timestamp) -> Allowance {
        // Credit is given out a tenth of a second's worth at a time, so that a page (a transaction) has many
        // recipients.
        let grain = Int64(max(1, rate / 10)) * 1000
        guard self.credit < grain else { return Allowance(count: Int(self.credit / 1000), next: now) }
        let wait = (grain - self.credit + Int64(rate) - 1) / Int64(max(1, rate))
        return Allowance(count: 0, next: now.advanced(by: .milliseconds(max(1, wait))))
    }

    /// Resets the progress once the wave's interval has elapsed. The next wave begins with its first push.
    private mutating func beginWaveIfDue(interval: Int, now: Timestamp) {
        guard let start = self.wave.startedAt else { return self.wave.sent = 0 }
        if now >= start.advanced(by: .seconds(interval)) {
            self.wave = WaveProgress()
        } else if start > now {
            self.wave.startedAt = now
        }
    }

    private func allowance(ofWave size: Int, interval: Int, now: Timestamp) -> Allowance {
        let left = size - min(self.wave.sent, size)
        guard left == 0, let start = self.wave.startedAt else { return Allowance(count: left, next: now) }
        return Allowance(count: 0, next: start.advanced(by: .seconds(interval)))
    }
}
