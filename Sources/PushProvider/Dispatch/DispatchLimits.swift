/// The limits on the dispatcher's concurrent work.
///
/// After a crash, at most the pages in flight are sent again, with the same `apns-id`s: ``page`` recipients for each of
/// the ``walkers`` slots and one reserve slot, the retries in flight, and as many more for each service that responds
/// late.
package struct DispatchLimits: Hashable, Sendable {
    /// The maximum number of recipients of a page. The results of a page are written in one transaction. Default 1,000.
    package var page = 1000
    /// The number of slots of the bulk lane, each for one shard (a part of a campaign) at a time. Default 4.
    package var walkers = 4
    /// The number of slots of the urgent lane. One app has at most a quarter of them. Default 512.
    package var urgentSlots = 512
    /// The maximum number of urgent notifications that are claimed from the store in one transaction. Default 64.
    package var urgentClaims = 64
    /// The maximum number of urgent notifications that are claimed when they are accepted and wait for a slot in
    /// memory. One app has at most a quarter of them. Further ones wait in the store. Default 8,192.
    package var urgentQueue = 8192
    /// The maximum number of pages of retries of each lane that are sent at the same time. Default 4.
    package var retryPages = 4
    /// The time after which a page with missing responses frees its slot for other pages. Default 5 s.
    package var pageDeadline: Duration = .seconds(5)
    /// The maximum number of late pages (beyond ``pageDeadline``) in flight without a slot, for campaigns and for
    /// retries each. At the limit, services that respond late start no further page. Default 32.
    package var latePages = 32
    /// The time after which a shard frees its slot for others, so that campaigns are sent round robin. Default 5 s.
    package var timeSlice: Duration = .seconds(5)
    /// The time after which another process may claim leased work, unless a commit renews the lease. Default 5 min.
    package var lease: Duration = .seconds(300)
    /// The maximum time for which a lane sleeps without a signal. Default 5 s.
    package var sleep: Duration = .seconds(5)
    /// The pause between two attempts to write results while nothing can be written. Default 1 s.
    package var writePause: Duration = .seconds(1)

    package init() {}

    /// A copy in which too small values are raised to their minimums, and ``page`` is lowered to the maximum number of
    /// events in a block of webhook events.
    var checked: DispatchLimits {
        var limits = self
        limits.page = min(max(1, self.page), WebhookEventEncoder.maximumCount)
        limits.walkers = max(1, self.walkers)
        limits.urgentSlots = max(4, self.urgentSlots)
        limits.urgentClaims = max(1, self.urgentClaims)
        limits.urgentQueue = max(4, self.urgentQueue)
        limits.retryPages = max(1, self.retryPages)
        limits.latePages = max(1, self.latePages)
        return limits
    }
}
