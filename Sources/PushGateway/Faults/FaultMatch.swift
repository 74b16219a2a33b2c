import PushSupport
import PushTypes

/// The requests, messages and connections to which a fault applies, and how often. A property that is `nil` matches
/// all.
struct FaultMatch: Hashable, Sendable {
    /// The minimum number of hexadecimal digits of a token.
    private static let shortestToken = 8

    /// The topic; a bundle id also matches the topics that are derived from it.
    var topic: Topic?
    /// The token in lower-case hexadecimal, or its beginning.
    var token: String?
    /// The key id or certificate serial number, compared without regard to letter case.
    var credential: String?
    var environment: PushEnvironment?
    var listener: FaultListener?
    /// The share of the matching subjects, at random: 0 to 100.
    var percent: Double = 100
    /// The number of matching subjects after which it no longer applies.
    var first: Int?
    /// The interval of the matching subjects to which it applies: 3 for every third one.
    var every: Int?
    /// The maximum number of times that it applies.
    var times: Int?
    /// The time from which it does not apply any more.
    var until: Timestamp?

    /// Returns whether `subject` matches, apart from chance and counts.
    func matches(_ subject: FaultSubject) -> Bool {
        if let listener, listener != subject.listener { return false }
        if let environment, environment != subject.environment { return false }
        if let topic, topic != subject.topic, topic != subject.topic?.bundleID { return false }
        if let token, subject.token?.hex.hasPrefix(token) != true { return false }
        if let credential, subject.credential?.lowercased() != credential.lowercased() { return false }
        return true
    }

    /// Returns whether the fault applies to a matching subject.
    /// - Parameters:
    ///   - seen: The number of the subject among those that match, from 1.
    ///   - hits: The times that the fault has applied before.
    func applies(seen: Int, hits: Int, random: inout some RandomNumberGenerator) -> Bool {
        if let first, seen > first { return false }
        if let every, !seen.isMultiple(of: every) { return false }
        if let times, hits >= times { return false }
        return self.percent >= 100 || Double.random(in: 0..<100, using: &random) < self.percent
    }
}

extension FaultMatch {
    static let memberNames: Set<String> = [
        "topic", "token", "credential", "environment", "door", "percent", "first", "every", "times", "untilMs",
    ]
    private static let counts: ClosedRange<Int64> = 1...1_000_000_000

    init(_ fields: JSONFields) throws(RequestError) {
        if let text = try fields.string("topic", maximum: Topic.maximumLength) {
            guard let topic = Topic(text) else {
                throw fields.error("topic", "invalid_value", "use letters, digits, dots, hyphens and underscores")
            }
            self.topic = topic
        }
        if let text = try fields.string("token", maximum: DeviceToken.maximumLength * 2) {
            guard text.utf8.count >= Self.shortestToken, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                throw fields.error(
                    "token",
                    "invalid_value",
                    "use the first \(Self.shortestToken) hexadecimal digits or more"
                )
            }
            self.token = text.lowercased()
        }
        if let text = try fields.string("credential", maximum: 64) {
            guard text.utf8.allSatisfy(FaultText.isPlain) else {
                throw fields.error("credential", "invalid_value", "use a key id or a hexadecimal serial number")
            }
            self.credential = text
        }
        self.environment = try fields.choice("environment")
        self.listener = try fields.choice("door")
        self.percent = try fields.number("percent", in: 0...100) ?? 100
        self.first = try fields.integer("first", in: Self.counts).map(Int.init)
        self.every = try fields.integer("every", in: Self.counts).map(Int.init)
        self.times = try fields.integer("times", in: Self.counts).map(Int.init)
        self.until = try fields.integer("untilMs", in: 0...Int64.max).map(Timestamp.init(milliseconds:))
    }

    /// The members in the order of the text form.
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

extension JSONFields {
    /// Returns a member that is a case of an enumeration; `nil` if it is absent.
    func choice<Value: RawRepresentable & CaseIterable>(_ name: String) throws(RequestError) -> Value?
    where Value.RawValue == String {
        guard let text = try self.string(name, maximum: 64) else { return nil }
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw self.error(name, "invalid_value", "use one of: \(known)")
        }
        return value
    }

    /// Returns a number in a range; `nil` if it is absent.
    fileprivate func number(_ name: String, in range: ClosedRange<Double>) throws(RequestError) -> Double? {
        let value: Double
        switch self.members[name] {
        case nil: return nil
        case .integer(let number): value = Double(number)
        case .number(let number): value = number
        default: throw self.wrongType(name, "a number")
        }
        guard range.contains(value) else {
            throw self.error(name, "invalid_value", "use \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// A listener with faults. The raw values are those of the member `door` of a rule.
enum FaultListener: String, CaseIterable, Hashable, Sendable {
    case http2, binary, feedback
    case deviceLink = "courier"
}

/// A point in the processing at which the ``FaultPlan`` decides.
enum FaultPoint: UInt8, CaseIterable, Hashable, Sendable {
    /// A connection was accepted. Nothing is known of the peer yet.
    case connection
    /// A request of a provider is complete and has no response yet.
    case request
    /// A message is about to be sent to a device.
    case delivery
    /// A device has acknowledged a message.
    case acknowledgement
    /// A feedback list is about to be sent to a provider.
    case feedback
}

/// The request, message or connection to which a fault could apply, as far as its listener knows it.
struct FaultSubject: Hashable, Sendable {
    var listener: FaultListener
    var environment: PushEnvironment
    var topic: Topic?
    var token: DeviceToken?
    /// The provider's key id, or its certificate's serial number in hexadecimal.
    var credential: String?
    /// The number of the request, or of the message to a device, on its connection, from 1.
    var ordinal = 1
}

extension FaultSubject {
    /// Describes a message to a device.
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
