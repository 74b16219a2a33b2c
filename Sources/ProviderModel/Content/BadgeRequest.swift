package import PushSupport

/// The request that sets the badge count of a user, and its response.
package enum BadgeRequest {
    package static let count = Member.integer("count", BadgeChange.counts)
    package static let object = RequestObject(required: [Self.count]) { $0.named("Badge") }
}
