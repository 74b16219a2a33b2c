import Crypto
import Foundation
package import PushTypes

/// The headers of a message for a browser, made of what a notification has (RFC 8030 section 5).
package enum WebPushMessage {
    /// The longest time for which a push service is asked to keep a message, in seconds: 28 days, which all take.
    package static let longestStorage: Int64 = 28 * 86_400

    /// Returns the header fields, with names in lower case.
    package static func headers(
        priority: Priority,
        expiration: Expiration,
        collapseID: String?,
        now: Timestamp
    ) -> [(name: String, value: String)] {
        var headers = [
            (name: "ttl", value: String(self.timeToLive(expiration, now: now))),
            (name: "urgency", value: self.urgency(priority).rawValue),
            (name: "content-encoding", value: "aes128gcm"),
            (name: "content-type", value: "application/octet-stream"),
        ]
        if let collapseID { headers.append((name: "topic", value: self.topic(collapseID))) }
        return headers
    }

    /// Returns the seconds for which the message is kept.
    package static func timeToLive(_ expiration: Expiration, now: Timestamp) -> Int64 {
        switch expiration {
        case .servicePolicy: return self.longestStorage
        case .immediate: return 0
        case .at(let seconds):
            let (left, overflow) = seconds.subtractingReportingOverflow(now.seconds)
            return overflow ? 0 : min(max(0, left), self.longestStorage)
        }
    }

    /// Returns the urgency of a priority.
    package static func urgency(_ priority: Priority) -> WebPushRequest.Urgency {
        switch priority {
        case .immediate: .high
        case .powerAware: .normal
        case .low: .low
        }
    }

    /// Returns the priority of an urgency.
    package static func priority(_ urgency: WebPushRequest.Urgency) -> Priority {
        switch urgency {
        case .veryLow, .low: .powerAware
        case .normal, .high: .immediate
        }
    }

    /// Returns the topic of a collapse id: 32 characters, which Apple can decode. It rejects topics whose length is a multiple
    /// of four and one.
    package static func topic(_ collapseID: String) -> String {
        Base64URL.encode(SHA256.hash(data: Data(collapseID.utf8)).prefix(24))
    }
}
