package import Foundation
package import PushSupport
package import PushTypes

/// The audience of a notification.
package enum Audience: Hashable, Sendable {
    /// The audience of the devices with the given tokens, whether the tokens are registered or not.
    case tokens([DeviceToken])
    /// The audience of the active devices that meet the expression.
    case devices(AudienceExpression)
    /// The audience of the devices that follow a channel. Only the push service knows them, so the channel counts as a
    /// single recipient.
    case channel(BroadcastChannel)
}

/// The channel to which a broadcast is sent.
package struct BroadcastChannel: Hashable, Sendable {
    package var id: ChannelID
    package var storage: ChannelStorage

    package init(id: ChannelID, storage: ChannelStorage) { (self.id, self.storage) = (id, storage) }
}

/// A condition that devices of an audience satisfy.
package indirect enum AudienceExpression: Hashable, Sendable {
    case everyone
    case token(DeviceToken)
    case user(String)
    case tag(String)
    /// The condition that an attribute has the given relation to a value: a number, a text or a Boolean.
    case attribute(name: String, Comparison, JSONValue)
    /// The condition that the device has the attribute, whatever its value.
    case hasAttribute(String)
    /// The condition that the device has this locale, with or without a region: `pt` matches `pt-BR` too.
    case locale(String)
    /// The condition that the app's version has the given relation to this one, part by part as numbers.
    case appVersion(Comparison, AppVersion)
    case timeZone(String)
    /// The condition that the token belongs to a Live Activity, by the id that the app gave it.
    case activity(String)
    /// The condition that the time of the device's latest registration has the given relation to this time.
    case lastSeen(Comparison, Timestamp)
    /// The condition that an earlier notification had one of these outcomes, used only by resends and not by requests.
    case outcomes(RecipientOutcomes)
    case and([AudienceExpression])
    case or([AudienceExpression])
    case not(AudienceExpression)

    /// A comparison of a stored value with that of a condition.
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case equal = "is"
        case atLeast
        case above
        case atMost
        case below
    }
}

extension AudienceExpression {
    /// A Boolean value that indicates whether the expression has a condition on a Live Activity.
    package var namesActivity: Bool {
        switch self {
        case .activity: true
        case .and(let expressions), .or(let expressions): expressions.contains(where: \.namesActivity)
        case .not(let expression): expression.namesActivity
        default: false
        }
    }
}

/// A snapshot of the named audiences of an app that a request may refer to.
package struct NamedAudiences: Hashable, Sendable {
    /// The member of a condition that refers to a named audience.
    package static let member = "named"
    package static let none = NamedAudiences([:])

    /// The conditions of the named audiences by name, in the form of a request.
    private let conditions: [BytewiseString: [String: JSONValue]]

    package init(_ conditions: [BytewiseString: [String: JSONValue]]) { self.conditions = conditions }

    /// Returns the condition of the audience with that name, or `nil` if there is none.
    func condition(_ name: String) -> [String: JSONValue]? { self.conditions[BytewiseString(name)] }

    /// Returns the names of all named audiences to which an audience in a request refers.
    package static func names(in audience: JSONValue) -> Set<BytewiseString> {
        switch audience {
        case .object(let members):
            var names: Set<BytewiseString> = []
            if case .string(let name)? = members[Self.member] { names.insert(BytewiseString(name)) }
            for word in ["and", "or", "not"] { if let inner = members[word] { names.formUnion(Self.names(in: inner)) } }
            return names
        case .array(let elements): return elements.reduce(into: []) { $0.formUnion(Self.names(in: $1)) }
        case .string, .integer, .number, .bool, .null: return []
        }
    }
}

/// An audience of the devices for which an earlier notification ended in certain states.
///
/// These are the devices with such a delivery, which the store keeps until the later notification has ended.
package struct RecipientOutcomes: Hashable, Sendable {
    package var notification: UUID
    package var states: Set<DeliveryRecord.State>
    /// The reasons of the deliveries that match. `nil` matches deliveries without a reason, and those with any reason
    /// that is not in ``exceptReasons``.
    package var reasons: [String]?
    package var exceptReasons: [String]

    package init(
        of notification: UUID,
        states: Set<DeliveryRecord.State>,
        reasons: [String]?,
        exceptReasons: [String] = []
    ) {
        (self.notification, self.states) = (notification, states)
        (self.reasons, self.exceptReasons) = (reasons, exceptReasons)
    }

    /// Returns whether the audience contains a device whose delivery ended with this state and reason (`nil` for none).
    package func holds(_ state: DeliveryRecord.State, reason: String?) -> Bool {
        guard self.states.contains(state) else { return false }
        guard let reasons else { return !(reason.map(self.exceptReasons.contains) ?? false) }
        return reason.map(reasons.contains) ?? false
    }
}

extension RecipientOutcomes {
    init?(stored json: JSONValue) {
        guard case .object(let members) = json, case .string(let id)? = members["notification"],
            let notification = UUID(uuidString: id), let words = Self.texts(members["states"])
        else { return nil }
        let states = words.compactMap { word in DeliveryRecord.State.allCases.first { $0.word == word } }
        guard !states.isEmpty, states.count == words.count else { return nil }
        self.init(
            of: notification,
            states: Set(states),
            reasons: Self.texts(members["reasons"]),
            exceptReasons: Self.texts(members["exceptReasons"]) ?? []
        )
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "notification": .string(self.notification.uuidString),
            "states": .array(self.states.map(\.word).sorted().map(JSONValue.string)),
        ]
        members["reasons"] = self.reasons.map { .array($0.map(JSONValue.string)) }
        if !self.exceptReasons.isEmpty { members["exceptReasons"] = .array(self.exceptReasons.map(JSONValue.string)) }
        return .object(members)
    }

    private static func texts(_ value: JSONValue?) -> [String]? {
        guard case .array(let values)? = value else { return nil }
        return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}
