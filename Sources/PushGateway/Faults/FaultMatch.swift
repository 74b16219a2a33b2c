import PushSupport
import PushTypes

/// The conditions under which a fault applies to a request, message or connection, and how often it applies. A property
/// that is `nil` matches all values.
struct FaultMatch: Hashable, Sendable {
    /// The topic. A bundle id also matches the topics that are derived from it. `nil` matches all topics.
    var topic: Topic?
    /// The device token in lower-case hexadecimal, or a prefix of it. `nil` matches all tokens.
    var token: String?
    /// The key id or certificate serial number, compared without regard to letter case. `nil` matches all credentials.
    var credential: String?
    var environment: PushEnvironment?
    var listener: FaultListener?
    /// The percentage of the matching subjects to which the fault applies, at random: 0 to 100. Default 100.
    var percent: Double = 100
    /// The number of matching subjects to which the fault can apply, the first ones, or `nil` if there is no limit.
    var first: Int?
    /// The interval between the matching subjects to which the fault applies: 3 for every third one, or `nil` for all.
    var every: Int?
    /// The maximum number of times that the fault applies, or `nil` if there is no maximum.
    var times: Int?
    /// The time from which the fault no longer applies, or `nil` if it has no end.
    var until: Timestamp?

    /// Returns whether `subject` matches. Percentage and counts are not considered.
    func matches(_ subject: FaultSubject) -> Bool {
        if let listener, listener != subject.listener { return false }
        if let environment, environment != subject.environment { return false }
        if let topic, topic != subject.topic, topic != subject.topic?.bundleID { return false }
        if let token, subject.token?.hex.hasPrefix(token) != true { return false }
        if let credential, subject.credential?.lowercased() != credential.lowercased() { return false }
        return true
    }

    /// Returns whether the fault applies to a subject that matches, by the counts and the percentage.
    /// - Parameters:
    ///   - seen: The number of the subject among those that match, from 1.
    ///   - hits: The number of times that the fault has applied before.
    func applies(seen: Int, hits: Int, random: inout some RandomNumberGenerator) -> Bool {
        if let first, seen > first { return false }
        if let every, !seen.isMultiple(of: every) { return false }
        if let times, hits >= times { return false }
        return self.percent >= 100 || Double.random(in: 0..<100, using: &random) < self.percent
    }
}

extension FaultMatch {
    enum Members {
        /// The minimum number of hexadecimal digits in a rule's token or token prefix. A rule with fewer is rejected.
        private static let shortestToken = 8
        private static let counts: ClosedRange<Int64> = 1...1_000_000_000

        static let topic = Member.text("topic", maximum: Topic.maximumLength, as: .bundleID)
            .parsed("invalid_value", FaultText.rule) { Topic($0) }
        static let token = Member.text(
            "token",
            maximum: DeviceToken.maximumLength * 2,
            as: .string(length: Self.shortestToken...DeviceToken.maximumLength * 2, pattern: "^[0-9A-Fa-f]+$")
        ).parsed("invalid_value", "use the first \(Self.shortestToken) hexadecimal digits or more") { text in
            let isToken = text.utf8.count >= Self.shortestToken && text.allSatisfy { $0.isASCII && $0.isHexDigit }
            return isToken ? text.lowercased() : nil
        }
        static let credential = Member.text("credential", 1...64, pattern: FaultText.pattern)
            .checked("invalid_value", "use a key id or a hexadecimal serial number", FaultText.isPlain)
        static let environment = Member.choice("environment", of: PushEnvironment.self)
        static let listener = Member.choice("door", of: FaultListener.self)
        static let percent = Member.number("percent", as: .number(from: 0, to: 100))
            .parsed("invalid_value", "use 0.0 to 100.0") { number in
                number.numberValue.flatMap { (0...100).contains($0) ? $0 : nil }
            }
        static let first = Member.integer("first", Self.counts)
        static let every = Member.integer("every", Self.counts)
        static let times = Member.integer("times", Self.counts)
        static let until = Member.integer("untilMs", 0...Int64.max)

        static let all: [any RequestMemberProtocol] = [
            Self.topic, Self.token, Self.credential, Self.environment, Self.listener, Self.percent, Self.first,
            Self.every, Self.times, Self.until,
        ]
    }

    init(_ fields: JSONFields) throws(RequestError) {
        self.topic = try fields.value(Members.topic)
        self.token = try fields.value(Members.token)
        self.credential = try fields.value(Members.credential)
        self.environment = try fields.value(Members.environment)
        self.listener = try fields.value(Members.listener)
        self.percent = try fields.value(Members.percent) ?? 100
        self.first = try fields.value(Members.first).map(Int.init)
        self.every = try fields.value(Members.every).map(Int.init)
        self.times = try fields.value(Members.times).map(Int.init)
        self.until = try fields.value(Members.until).map(Timestamp.init(milliseconds:))
    }

    var members: [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        if let listener { members.append(("door", .string(listener.rawValue))) }
        if let environment { members.append(("environment", .string(environment.rawValue))) }
        if let topic { members.append(("topic", .string(topic.name))) }
        if let token { members.append(("token", .string(token))) }
        if let credential { members.append(("credential", .string(credential))) }
        if self.percent < 100 {
            members.append(("percent", Int64(exactly: self.percent).map(JSONValue.integer) ?? .number(self.percent)))
        }
        for (name, count) in [("first", self.first), ("every", self.every), ("times", self.times)] {
            if let count { members.append((name, .integer(Int64(count)))) }
        }
        if let until { members.append(("untilMs", .integer(until.milliseconds))) }
        return members
    }
}

/// A listener to which faults can apply. The raw values are the values of a rule's member `door`.
enum FaultListener: String, CaseIterable, Hashable, Sendable {
    case http2, binary, feedback
    case deviceLink = "courier"
}

enum FaultPoint: UInt8, CaseIterable, Hashable, Sendable {
    /// The point at which a connection was accepted. Nothing is known of the peer yet.
    case connection
    /// The point at which a request of a provider is complete and has no response yet.
    case request
    /// The point at which a message is about to be sent to a device.
    case delivery
    /// The point at which a device has acknowledged a message.
    case acknowledgement
    /// The point at which a feedback list is about to be sent to a provider.
    case feedback
}

/// The request, message or connection to which a fault could apply. Properties that are not known yet are `nil`.
struct FaultSubject: Hashable, Sendable {
    var listener: FaultListener
    var environment: PushEnvironment
    var topic: Topic?
    var token: DeviceToken?
    /// The provider's key id, or its certificate's serial number in hexadecimal, or `nil` while it is not known.
    var credential: String?
    /// The number of the request, or of the message to a device, on its connection, from 1.
    var ordinal = 1
}

extension FaultSubject {
    /// Creates the subject for a message to a device. If `message` is `nil`, the topic and the token are not known.
    init(listener: FaultListener, environment: PushEnvironment, message: Message?, ordinal: Int = 1) {
        self.init(
            listener: listener,
            environment: environment,
            topic: message?.notification.topic,
            token: message.flatMap { DeviceToken(bytes: $0.token) },
            ordinal: ordinal
        )
    }
}
