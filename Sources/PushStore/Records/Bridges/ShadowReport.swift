package import PushTypes

/// The comparison of one shadowed request: what the bridge would have sent, and what the old server answered.
package struct ShadowComparison: Hashable, Sendable {
    /// The most differences of one request that are kept; further ones are counted.
    package static let maximumDifferences = 100

    /// The differences, each of which is in one field; empty where both agree.
    package var differences: [ShadowDifference] = []

    package init() {}
}

/// A difference between the verdict of a bridge and the answer of the old server. It has nothing of a content.
package struct ShadowDifference: Hashable, Sendable {
    /// The longest text of a verdict, in bytes.
    package static let maximumText = 120

    /// The time of the request.
    package var at: Timestamp
    /// The part of the answer that differs, such as `status`, `counts`, `token` or `notification`.
    package var subject: String
    /// The beginning of the token, or the member of the request at fault; `nil` where the whole request is meant.
    package var field: String?
    /// The verdict of the bridge, a reason or a number.
    package var ours: String
    /// The verdict of the old server.
    package var theirs: String

    package init(at: Timestamp, subject: String, field: String? = nil, ours: String, theirs: String) {
        (self.at, self.subject, self.field, self.ours, self.theirs) = (at, subject, field, ours, theirs)
    }
}

/// The report about the shadowed requests of a bridge.
package struct ShadowReport: Hashable, Sendable {
    /// The most differences that are kept of a bridge.
    package static let maximumDifferences = 1000

    /// The time of the first request.
    package var since: Timestamp
    package var requests: Int
    /// The requests without any difference.
    package var agreements: Int
    /// The newest differences, the newest first.
    package var differences: [ShadowDifference]
}
