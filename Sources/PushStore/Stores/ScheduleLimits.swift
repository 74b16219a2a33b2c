/// The limits on the schedules of one app.
package struct ScheduleLimits: Hashable, Sendable {
    /// The maximum number of schedules of an app. Default 1,000.
    package var count = 1000
    /// The maximum total size of the requests of an app's schedules, in bytes. Default 16 MB.
    package var bytes = 16 * 1024 * 1024

    package init() {}

    /// Returns the refusal of a schedule that would exceed a limit, or `nil` if it may be stored.
    ///
    /// A request that is not longer than the one that it replaces is accepted, even if the total exceeds the limit.
    /// - Parameters:
    ///   - size: The length of the schedule's request, in bytes.
    ///   - old: The length of the request that it replaces, in bytes, or `nil` for a new schedule.
    ///   - others: The number of the app's other schedules, and the total length of their requests, in bytes.
    func refusal(
        of size: Int,
        replacing old: Int?,
        beside others: (count: Int, bytes: Int)
    ) -> ScheduleChangeResult? {
        if old == nil, others.count >= self.count { return .tooMany }
        let isLarger = old.map { size > $0 } ?? true
        return isLarger && size + others.bytes > self.bytes ? .tooLarge : nil
    }
}
