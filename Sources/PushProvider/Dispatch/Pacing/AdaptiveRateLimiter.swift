import PushSupport

/// Slows down the campaigns of an app while its push service, or the connection to it, is overloaded.
///
/// The service is under strain if at least a tenth of the recipients are throttled, unavailable or unreachable. It is
/// evaluated over at least ``Settings/sample`` recipients, since a 429 may concern a single device (reference 1.10).
/// Strain doubles the maximum delay and halves the size of pages. An evaluation without strain reverses one doubling,
/// and increases the size by a tenth of the maximum.
struct AdaptiveRateLimiter: Sendable {
    struct Settings: Hashable, Sendable {
        /// The maximum number of recipients of a page, and (`minimumPage`) the minimum for an overloaded push service.
        /// Defaults 500 and 20.
        var page = 500
        var minimumPage = 20
        /// The back-off of pages under strain: the maximum delay after the first such page, doubling to 60 s.
        var backoff = Backoff(base: .milliseconds(500), maximum: .seconds(60))
        /// The maximum `retry-after` delay that is obeyed. A longer one is shortened to it. Default 15 min (reference
        /// 1.10).
        var longestRetryAfter: Duration = .seconds(15 * 60)
        /// The minimum number of recipients over which strain (signs of overload) is evaluated. Reports are added up
        /// until then. Default 20.
        var sample = 20
    }

    /// The numbers of recipients of one page by kind of outcome.
    struct Report: Hashable, Sendable {
        var accepted = 0
        /// The number of pushes that were rejected for reasons that do not indicate strain.
        var rejected = 0
        /// The number of responses with status 429.
        var throttled = 0
        /// The number of responses with a 5xx status.
        var unavailable = 0
        /// The number of pushes that were not sent, or that got no response.
        var unreachable = 0
        /// The maximum `retry-after` in the push service's responses, or `nil` if none had one.
        var retryAfter: Duration?

        var total: Int { self.accepted + self.rejected + self.strained }
        var strained: Int { self.throttled + self.unavailable + self.unreachable }

        /// The report with unreachable recipients counted as rejected, so that they do not indicate strain.
        var withoutUnreachable: Report {
            var report = self
            (report.rejected, report.unreachable) = (self.rejected + self.unreachable, 0)
            return report
        }

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
    private(set) var pageSize: Int
    /// The number of evaluations with strain, minus those without strain that followed. It determines the back-off.
    private(set) var level = 0
    /// The sum of the reports since the last evaluation. The next one takes place once it covers enough recipients.
    private var pending = Report()

    init(settings: Settings = Settings()) {
        self.settings = settings
        self.pageSize = max(1, settings.page)
    }

    /// Evaluates the report of a page, and adapts the size of the next one.
    /// - Returns: The time to wait before the next page, or zero without strain.
    mutating func record(_ report: Report, using generator: inout some RandomNumberGenerator) -> Duration {
        self.pending.add(report)
        guard self.pending.total >= self.settings.sample else { return .zero }
        let sample = self.pending
        self.pending = Report()
        guard sample.strained * 10 >= sample.total else {
            self.recover()
            return .zero
        }
        self.level = min(self.level + 1, 16)
        self.pageSize = max(min(self.settings.minimumPage, self.settings.page), self.pageSize / 2, 1)
        let delay = self.settings.backoff.delay(afterFailures: self.level, using: &generator)
        return max(delay, min(sample.retryAfter ?? .zero, self.settings.longestRetryAfter))
    }

    private mutating func recover() {
        self.level = max(0, self.level - 1)
        self.pageSize = min(max(1, self.settings.page), self.pageSize + max(1, self.settings.page / 10))
    }
}
