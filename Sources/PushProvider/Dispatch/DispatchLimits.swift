/// How much the dispatcher does at the same time. A crash costs at most what is in flight, sent again with the same
/// `apns-id`s: ``page`` recipients in each of ``walkers`` places for campaigns and one in reserve, and the retries under
/// way, and as much of each service that answers late.
package struct DispatchLimits: Hashable, Sendable {
    /// Recipients per transaction. Default 1,000.
    package var page = 1000
    /// Shards of campaigns that are sent at the same time. Default 4.
    package var walkers = 4
    /// Urgent notifications that are sent at the same time, a quarter of them for one app. Default 512.
    package var urgentPlaces = 512
    /// Urgent notifications that are claimed at once. Default 64.
    package var urgentClaims = 64
    /// Pages of retries of each lane that are sent at the same time. Default 4.
    package var retryPages = 4
    /// A page without its answers after this time leaves its place to others. Default 5 s.
    package var pageDeadline: Duration = .seconds(5)
    /// Pages of campaigns, and of retries, that are begun beside the others for services that answer late. Default 32.
    package var latePages = 32
    /// After this time a shard is given back, so that campaigns take turns. Default 5 s.
    package var turn: Duration = .seconds(5)
    /// A claim is given up after this time without a commit. Default 5 min.
    package var lease: Duration = .seconds(300)
    /// The longest sleep without a signal. Default 5 s.
    package var sleep: Duration = .seconds(5)
    /// Between two tries to write what was sent, when nothing can be written. Default 1 s.
    package var writePause: Duration = .seconds(1)

    package init() {}

    /// At least one of everything, and no page with more events than a block for webhooks holds.
    var checked: DispatchLimits {
        var limits = self
        limits.page = min(max(1, self.page), WebhookEvents.maximumCount)
        limits.walkers = max(1, self.walkers)
        limits.urgentPlaces = max(4, self.urgentPlaces)
        limits.urgentClaims = max(1, self.urgentClaims)
        limits.retryPages = max(1, self.retryPages)
        limits.latePages = max(1, self.latePages)
        return limits
    }
}
