/// Bounds of the work that the dispatcher does at the same time.
///
/// A crash costs at most the pages in flight, which are sent again with the same `apns-id`s: ``page`` recipients in each of
/// ``walkers`` slots for campaigns and one in reserve, the retries in flight, and as much for each service that responds
/// late.
package struct DispatchLimits: Hashable, Sendable {
    /// Recipients per transaction. Default 1,000.
    package var page = 1000
    /// The slots of the bulk lane: shards of campaigns that are sent at the same time. Default 4.
    package var walkers = 4
    /// The slots of the urgent lane, a quarter of them for one app. Default 512.
    package var urgentSlots = 512
    /// Urgent notifications that are claimed at once. Default 64.
    package var urgentClaims = 64
    /// Urgent notifications that are claimed as they are accepted and wait for a slot in memory, a quarter of them for one app.
    /// Later ones wait in the store. Default 8,192.
    package var urgentQueue = 8192
    /// Pages of retries of each lane that are sent at the same time. Default 4.
    package var retryPages = 4
    /// A page without its responses after this time leaves its slot to others. Default 5 s.
    package var pageDeadline: Duration = .seconds(5)
    /// Pages of campaigns, and of retries, beside the others for services that respond late. Default 32.
    package var latePages = 32
    /// The time after which a shard is released, so that campaigns are sent round robin. Default 5 s.
    package var timeSlice: Duration = .seconds(5)
    /// The time after which a lease without a commit ends. Default 5 min.
    package var lease: Duration = .seconds(300)
    /// The maximum sleep without a signal. Default 5 s.
    package var sleep: Duration = .seconds(5)
    /// The pause between two tries to write results while nothing can be written. Default 1 s.
    package var writePause: Duration = .seconds(1)

    package init() {}

    /// The same limits with at least one of everything, and no page with more events than a block for webhooks holds.
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
