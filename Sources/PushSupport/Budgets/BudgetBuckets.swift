import PushTypes

/// The token buckets of a budget's rates, one for each account. When there are many, the full ones are removed.
struct BudgetBuckets: Sendable {
    private typealias Bucket = TokenBucket<ContinuousClock.Instant>

    private enum Account: Hashable {
        case whole
        case app(Topic?)
        case caller(BudgetCaller)
    }

    private static let minimumSearched = 1000

    private var buckets: [Account: Bucket] = [:]
    /// The number of buckets at which full ones are removed. It is twice the number that was left the last time, so
    /// that the amortized cost of a new account is constant.
    private var searched = Self.minimumSearched

    /// Takes an amount at each level that has a rate, or at none.
    /// - Returns: The lowest level that lacks the amount, and the time until it has it, or `nil` if it was taken.
    mutating func take(
        _ amount: Double,
        _ caller: BudgetCaller,
        _ bounds: BudgetLimits.Levels<BudgetBound>,
        now: ContinuousClock.Instant
    ) -> (BudgetLevel, Duration)? {
        var taken: [(Account, Bucket)] = []
        for level in [BudgetLevel.caller, .app, .whole] {
            guard let rate = Self.rate(level, caller, bounds) else { continue }
            let account = Self.account(level, caller)
            var bucket = self.buckets[account] ?? Bucket(rate: rate.perSecond, burst: rate.burst, now: now)
            // An amount is limited to that of a full bucket: otherwise it could never be taken.
            if let delay = bucket.take(min(amount, bucket.burst), now: now) { return (level, delay) }
            taken.append((account, bucket))
        }
        for (account, bucket) in taken { self.buckets[account] = bucket }
        self.removeFull(now: now)
        return nil
    }

    /// Returns the lowest level whose rate is exhausted, and the time until it is replenished, or `nil` for none.
    func refusal(
        _ caller: BudgetCaller,
        _ bounds: BudgetLimits.Levels<BudgetBound>,
        now: ContinuousClock.Instant
    ) -> (BudgetLevel, Duration)? {
        for level in [BudgetLevel.caller, .app, .whole] {
            guard let rate = Self.rate(level, caller, bounds) else { continue }
            let account = Self.account(level, caller)
            var bucket = self.buckets[account] ?? Bucket(rate: rate.perSecond, burst: rate.burst, now: now)
            if let delay = bucket.take(1, now: now) { return (level, delay) }
        }
        return nil
    }

    /// Takes an amount, even if it puts a rate into debt, and returns the time until the debt is paid. If that exceeds
    /// the limits' patience, it takes nothing and returns the level that refuses.
    mutating func owe(
        _ amount: Double,
        _ caller: BudgetCaller,
        _ limits: BudgetLimits,
        now: ContinuousClock.Instant
    ) -> Result<Duration, BudgetStateMachine.Refused> {
        var (taken, longest): ([(Account, Bucket)], Duration) = ([], .zero)
        for level in [BudgetLevel.caller, .app, .whole] {
            guard let rate = Self.rate(level, caller, limits.bounds) else { continue }
            let account = Self.account(level, caller)
            var bucket = self.buckets[account] ?? Bucket(rate: rate.perSecond, burst: rate.burst, now: now)
            let delay = bucket.spend(amount, now: now)
            guard delay <= limits.patience else {
                return .failure(BudgetStateMachine.Refused(level: level, delay: delay))
            }
            longest = max(longest, delay)
            taken.append((account, bucket))
        }
        for (account, bucket) in taken { self.buckets[account] = bucket }
        self.removeFull(now: now)
        return .success(longest)
    }

    /// Returns an unused amount to each level that has a rate. A negative amount is taken in addition.
    mutating func giveBack(
        _ amount: Double,
        _ caller: BudgetCaller,
        _ bounds: BudgetLimits.Levels<BudgetBound>,
        now: ContinuousClock.Instant
    ) {
        for level in BudgetLevel.allCases where Self.rate(level, caller, bounds) != nil {
            _ = self.buckets[Self.account(level, caller)]?.spend(-amount, now: now)
        }
    }

    /// Returns the rate of a level for a caller, or the caller's own rate, or `nil` for no limit.
    private static func rate(
        _ level: BudgetLevel,
        _ caller: BudgetCaller,
        _ bounds: BudgetLimits.Levels<BudgetBound>
    ) -> (perSecond: Double, burst: Double)? {
        guard case .rate(let perSecond, let burst)? = bounds[level, for: caller], perSecond > 0 else { return nil }
        return (perSecond, burst)
    }

    private static func account(_ level: BudgetLevel, _ caller: BudgetCaller) -> Account {
        switch level {
        case .whole: .whole
        case .app: .app(caller.app)
        case .caller: .caller(caller)
        }
    }

    private mutating func removeFull(now: ContinuousClock.Instant) {
        guard self.buckets.count >= self.searched else { return }
        self.buckets = self.buckets.filter { _, bucket in
            var bucket = bucket
            return !bucket.isFull(now: now)
        }
        self.searched = max(Self.minimumSearched, 2 * self.buckets.count)
    }
}
