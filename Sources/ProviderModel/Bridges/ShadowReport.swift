package import PushTypes

/// The report of a bridge in shadow mode, which sends nothing and compares its results with an old server's.
package struct ShadowReport: Hashable, Sendable {
    /// The maximum number of differences that are kept for a bridge, beyond which the newest replace the oldest.
    package static let maximumDifferences = 1000

    /// The time of the first request that was compared.
    package var since: Timestamp
    package var requests: Int
    /// The number of requests without any difference.
    package var agreements: Int
    /// The most recent differences, newest first.
    package var differences: [ShadowDifference]

    package init(since: Timestamp, requests: Int, agreements: Int, differences: [ShadowDifference]) {
        (self.since, self.requests, self.agreements) = (since, requests, agreements)
        self.differences = differences
    }
}

/// The comparison of the bridge's result for one request with the response of the old server, which it is to replace.
package struct ShadowComparison: Hashable, Sendable {
    /// The maximum number of differences of one request that are kept. Further ones are only counted.
    package static let maximumDifferences = 100

    /// The differences, one for each field. There are none if the bridge and the old server agree.
    package var differences: [ShadowDifference] = []

    package init() {}
}

/// A difference between the result of a bridge and the response of the old server, without any content.
package struct ShadowDifference: Hashable, Sendable {
    /// The maximum length of ``ours`` and ``theirs``, in bytes. The rest is cut off.
    package static let maximumText = 120

    package var at: Timestamp
    /// The part of the response that differs, such as `status`, `counts`, `token` or `notification`.
    package var subject: String
    /// The beginning of the token, or the member of the request at fault, or `nil` for the whole request.
    package var field: String?
    /// The result of the bridge for ``subject``: a reason or a number.
    package var ours: String
    /// The result of the old server for ``subject``: a reason or a number.
    package var theirs: String

    package init(at: Timestamp, subject: String, field: String? = nil, ours: String, theirs: String) {
        (self.at, self.subject, self.field, self.ours, self.theirs) = (at, subject, field, ours, theirs)
    }
}
