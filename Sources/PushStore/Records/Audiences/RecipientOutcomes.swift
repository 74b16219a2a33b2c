package import Foundation
import PushSupport

/// The devices of a notification that ended in certain states, as the audience of another one.
///
/// They are those for which the ledger has such a delivery. The store keeps the deliveries until the other one has ended.
package struct RecipientOutcomes: Hashable, Sendable {
    package var notification: UUID
    package var states: Set<DeliveryRecord.State>
    /// The reasons that count; `nil` counts all but ``exceptReasons``.
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

    /// Returns `true` if a delivery with this state and reason counts.
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
