import Crypto
import Foundation
import PushSupport
package import PushTypes

/// The header fields of a request to a push resource (RFC 8030 section 5).
package struct WebPushRequest: Hashable, Sendable {
    /// The maximum length of a body that every push service must accept, in bytes (RFC 8030 section 7.2).
    package static let maximumBody = 4096
    /// The maximum length of a topic, in base64url characters. A longer one is rejected with ``Fault/topic``.
    package static let maximumTopic = 32

    /// The urgency of a message (RFC 8030 section 5.3).
    package enum Urgency: String, Hashable, Sendable, CaseIterable {
        case veryLow = "very-low"
        case low, normal, high
    }

    /// The content coding of a body, which determines how it is encrypted.
    package enum Coding: Hashable, Sendable {
        /// The coding of an empty body, which is not encrypted.
        case none
        /// The coding of RFC 8291, whose parameters are in the body.
        case aes128gcm
        /// The coding of the drafts of RFC 8291. The salt (16 bytes) and the public key (65 bytes) are header fields.
        case aesgcm(salt: [UInt8], publicKey: [UInt8])
    }

    /// The reason why a request is rejected.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case ttl, urgency, topic, coding, keys

        /// The status of the response to a request that is rejected for this reason.
        package var status: Int { self == .coding ? 415 : 400 }

        package var description: String {
            switch self {
            case .ttl: "the header TTL is required: seconds, 0 or more"
            case .urgency: "the header Urgency may have one value"
            case .topic: "the header Topic has 1 to 32 characters of base64url"
            case .coding: "the header Content-Encoding must be aes128gcm, or aesgcm"
            case .keys: "with aesgcm the headers Encryption (salt) and Crypto-Key (dh) are required"
            }
        }
    }

    /// The maximum time for which the message may be stored, in seconds. With 0, the message is delivered immediately
    /// or not at all.
    package let ttl: UInt32
    package let urgency: Urgency
    /// The topic, or `nil` if there is none. A message replaces a waiting message with the same topic.
    package let topic: String?
    package let coding: Coding

    /// Parses the header fields of a request.
    /// - Parameters:
    ///   - hasBody: Pass `true` if the body has at least one byte.
    ///   - values: A closure that returns the values of all fields with a name in lower case.
    /// - Throws: The first fault found.
    package init(hasBody: Bool, values: (String) -> [String]) throws(Fault) {
        guard let seconds = values("ttl").first.flatMap(Self.seconds) else { throw .ttl }
        self.ttl = seconds
        let urgencies = values("urgency").flatMap { $0.split(separator: ",") }
        guard urgencies.count <= 1 else { throw .urgency }
        // A message with an unknown urgency is accepted as normal.
        self.urgency = urgencies.first.flatMap { Urgency(rawValue: Self.trimmed($0).lowercased()) } ?? .normal
        let topics = values("topic")
        guard topics.count <= 1, topics.allSatisfy(Self.isTopic) else { throw .topic }
        self.topic = topics.first
        guard hasBody else {
            self.coding = .none
            return
        }
        switch values("content-encoding").map({ Self.trimmed($0).lowercased() }) {
        case ["aes128gcm"]: self.coding = .aes128gcm
        case ["aesgcm"]: self.coding = try Self.legacyCoding(values)
        default: throw .coding
        }
    }

    private static func legacyCoding(_ values: (String) -> [String]) throws(Fault) -> Coding {
        func bytes(_ header: String, _ name: String, _ count: Int) -> [UInt8]? {
            guard let text = HeaderParameters(list: values(header).joined(separator: ","))[name],
                text.utf8.count <= 128,
                let bytes = Base64URL.decode(text), bytes.count == count
            else { return nil }
            return Array(bytes)
        }
        guard let salt = bytes("encryption", "salt", EncryptedContent.saltLength),
            let publicKey = bytes("crypto-key", "dh", WebPushKeys.publicLength)
        else { throw .keys }
        return .aesgcm(salt: salt, publicKey: publicKey)
    }

    /// Parses a number of seconds. A number above 2³¹ is returned as 2³¹, and text that is not a number as `nil`.
    private static func seconds(_ text: String) -> UInt32? {
        let digits = Self.trimmed(text[...])
        guard (1...64).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return min(UInt32(digits) ?? .max, 1 << 31)
    }

    private static func isTopic(_ text: String) -> Bool {
        (1...Self.maximumTopic).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
    }

    private static func trimmed(_ text: some StringProtocol) -> String { text.trimmingCharacters(in: .whitespaces) }
}

/// Converts the headers of a notification to those of a Web Push message (RFC 8030 section 5).
package enum WebPushMessage {
    /// The maximum time for which a push service is requested to store a message, in seconds. It is 28 days, which
    /// every service accepts.
    package static let longestStorage: Int64 = 28 * 86_400

    /// Returns the message's header fields, whose names are in lower case. Without a collapse id, there is no topic.
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

    package static func timeToLive(_ expiration: Expiration, now: Timestamp) -> Int64 {
        switch expiration {
        case .servicePolicy: return self.longestStorage
        case .immediate: return 0
        case .at(let seconds):
            let (left, overflow) = seconds.subtractingReportingOverflow(now.seconds)
            return overflow ? 0 : min(max(0, left), self.longestStorage)
        }
    }

    package static func urgency(_ priority: Priority) -> WebPushRequest.Urgency {
        switch priority {
        case .immediate: .high
        case .powerAware: .normal
        case .low: .low
        }
    }

    package static func priority(_ urgency: WebPushRequest.Urgency) -> Priority {
        switch urgency {
        case .veryLow, .low: .powerAware
        case .normal, .high: .immediate
        }
    }

    /// Returns the topic for a collapse id, which has 32 characters. Apple rejects a topic whose length is one more
    /// than a multiple of four.
    package static func topic(_ collapseID: String) -> String {
        Base64URL.encode(SHA256.hash(data: Data(collapseID.utf8)).prefix(24))
    }
}
