package import PushSupport

/// Slows a lane of an app down when the push service (or the way to it) shows strain, and lets it recover.
///
/// Strain is judged over at least ``Settings/sample`` recipients, since a 429 may be about a single device (reference
/// 1.10): a tenth of them throttled, unavailable or unreachable. Strain doubles the limit of the delay and halves the
/// page; each good page takes one doubling back and adds a tenth of a page.
package struct AdaptiveRateLimiter: Sendable {
    package struct Settings: Hashable, Sendable {
        /// Recipients of a full page, and of the smallest. Default 500 and 20.
        package var page = 500
        package var minimumPage = 20
        /// Limit of the delay after the first page with strain, doubling to 60 s.
        package var backoff = Backoff(base: .milliseconds(500), maximum: .seconds(60))
        /// The longest wait that the push service may ask for. Default 15 min (reference 1.10).
        package var longestRetryAfter: Duration = .seconds(15 * 60)
        /// Default 20.
        package var sample = 20

        package init() {}
    }

    /// What one page came to, in recipients.
    package struct Report: Hashable, Sendable {
        package var accepted = 0
        /// Refused for reasons of their own: no strain.
        package var rejected = 0
        /// 429.
        package var throttled = 0
        /// 5xx.
        package var unavailable = 0
        /// Not sent, or without an answer.
        package var unreachable = 0
        /// The longest that the push service asked for.
        package var retryAfter: Duration?

        package init() {}

        var total: Int { self.accepted + self.rejected + self.strained }
        var strained: Int { self.throttled + self.unavailable + self.unreachable }

        mutating func add(_ other: Report) {
            self.accepted += other.accepted
            self.rejected += other.rejected
            self.throttled += other.throttled
            self.unavailable += other.unavailable
            self.unreachable += other.unreachable
            if let retryAfter = other.retryAfter { self.retryAfter = max(retryAfter, self.retryAfter ?? .zero) }
        }
    }

    private let settings: Settings
    /// Recipients that the next page may have.
    package private(set) var pageSize: Int
    /// Pages with strain that were not yet made up for by good ones.
    package private(set) var level = 0
    /// Reports since the last judgement, while they are too few.
    private var pending = Report()

    package init(settings: Settings = Settings()) {
        self.settings = settings
        self.pageSize = max(1, settings.page)
    }

    /// The time to wait before the next page; zero when all is well.
    package mutating func record(
        _ report: Report,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        self.pending.add(report)
        guard self.pending.total >= self.settings.sample else { return .zero }
        let judged = self.pending
        self.pending = Report()
        guard judged.strained * 10 >= judged.total else {
            self.recover()
            return .zero
        }
        self.level = min(self.level + 1, 16)
        self.pageSize = max(min(self.settings.minimumPage, self.settings.page), self.pageSize / 2, 1)
        let delay = self.settings.backoff.delay(afterFailures: self.level, using: &generator)
        return max(delay, min(judged.retryAfter ?? .zero, self.settings.longestRetryAfter))
    }

    private mutating func recover() {
        self.level = max(0, self.level - 1)
        self.pageSize = min(max(1, self.settings.page), self.pageSize + max(1, self.settings.page / 10))
    }
}
